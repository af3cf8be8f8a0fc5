#include "gpu/dense.hpp"

#include <stdexcept>

#include "gpu/host_cholesky.hpp"
#include "gpu/host_product.hpp"

#if !defined(FEDPP_DEVICE_BACKEND)
// The Fortran names every BLAS and LAPACK exports (OpenBLAS, MKL, the reference): no header of one vendor is needed.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
// The switches of OpenBLAS, MKL and BLIS, of which the one that is linked is there.
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] void MKL_Set_Num_Threads(int);
[[gnu::weak]] void bli_thread_set_num_threads(std::int64_t);
}
#endif

namespace fedpp::gpu {

namespace {
Dense chosen = kHostBackend ? Dense::kBlas : Dense::kTeam;
}

Dense dense() { return chosen; }

void choose_dense(std::string_view name) {
  if (name == "auto") {
    chosen = kHostBackend && team_size() == 1 ? Dense::kBlas : Dense::kTeam;
  } else if (name == "team") {
    chosen = Dense::kTeam;
  } else if (name == "blas" && kHostBackend) {
    chosen = Dense::kBlas;
  } else {
    throw std::invalid_argument("dense linear algebra '" + std::string(name) + "' is not available on the backend " +
                                std::string(Exec::name()) + ": use 'auto' or 'team'");
  }
#if !defined(FEDPP_DEVICE_BACKEND)
  // Threads belong to Kokkos and ranks: a threaded BLAS below them would oversubscribe the cores and change bits.
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  if (MKL_Set_Num_Threads) MKL_Set_Num_Threads(1);
  if (bli_thread_set_num_threads) bli_thread_set_num_threads(1);
#endif
}

#if !defined(FEDPP_DEVICE_BACKEND)

namespace {

template <class T>
const char* op(const Factor<T>& a) {
  return a.transposed ? "T" : "N";
}

void vendors_product(double alpha, const Factor<double>& a, const Factor<double>& b, double beta, Matrix<double> c) {
  dgemm_(op(a), op(b), &c.rows, &c.columns, &a.columns, &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data,
         &c.stride);
}
void vendors_product(float alpha, const Factor<float>& a, const Factor<float>& b, float beta, Matrix<float> c) {
  sgemm_(op(a), op(b), &c.rows, &c.columns, &a.columns, &alpha, a.data, &a.stride, b.data, &b.stride, &beta, c.data,
         &c.stride);
}

// Half of a vendor's product as panels of full products: their dsyrk and dtrmm of a few hundred rows or less run at
// half the rate of their dgemm. Of a triangle's inverse, panels leave out what is zero.
constexpr int kPanel = 16;
int panel(int first, int all) { return all - first < kPanel ? all - first : kPanel; }

bool ours(int rows) { return rows <= kOurRows; }

}  // namespace

template <class T>
void BlasDense::product(const Member& member, Same<T> alpha, Factor<Same<T>> a, Factor<Same<T>> b, Same<T> beta,
                        Matrix<T> c, Ahead ahead) {
  if (member.team_rank() == 0 && c.rows > 0 && c.columns > 0) {
    if (ours(c.rows))
      host_product(Part::kWhole, alpha, a, b, beta, c, ahead);
    else
      vendors_product(alpha, a, b, beta, c);
  }
  member.team_barrier();
}

template <class T>
void BlasDense::lower_product(const Member& member, Same<T> alpha, Matrix<const Same<T>> a, Matrix<const Same<T>> b,
                              Same<T> beta, Matrix<T> c, Ahead ahead) {
  const int m = c.rows;
  if (member.team_rank() == 0 && m > 0) {
    if (ours(m))
      host_product(Part::kLowerResult, alpha, a, transposed(b), beta, c, ahead);
    else
      for (int j = 0; j < m; j += kPanel)
        vendors_product(alpha, a.rows_from(j, m - j), transposed(b.rows_from(j, panel(j, m))), beta,
                        c.rows_from(j, m - j).columns_from(j, panel(j, m)));
  }
  member.team_barrier();
}

template <class T>
void BlasDense::triangle_times(const Member& member, Matrix<const Same<T>> l, Matrix<const Same<T>> b, Matrix<T> c,
                               Ahead ahead) {
  const int m = c.rows;
  if (member.team_rank() == 0 && m > 0 && c.columns > 0) {
    if (ours(m))
      host_product(Part::kLowerTriangle, 1, l, b, 0, c, ahead);
    else
      for (int i = 0; i < m; i += kPanel) {
        const int rows = panel(i, m), end = i + rows;
        vendors_product(1, l.rows_from(i, rows).columns_from(0, end), b.rows_from(0, end), 0, c.rows_from(i, rows));
      }
  }
  member.team_barrier();
}

template <class T>
void BlasDense::transposed_triangle_times(const Member& member, Matrix<const Same<T>> l, Matrix<const Same<T>> b,
                                          Matrix<T> c) {
  const int m = c.rows;
  if (member.team_rank() == 0 && m > 0 && c.columns > 0) {
    if (ours(m))
      host_product(Part::kUpperTriangle, 1, transposed(l), b, 0, c);
    else
      for (int i = 0; i < m; i += kPanel) {
        const int rows = panel(i, m);
        vendors_product(1, transposed(l.rows_from(i, m - i).columns_from(i, rows)), b.rows_from(i, m - i), 0,
                        c.rows_from(i, rows));
      }
  }
  member.team_barrier();
}

#define FEDPP_PRODUCTS(T)                                                                                             \
  template void BlasDense::product<T>(const Member&, T, Factor<T>, Factor<T>, T, Matrix<T>, Ahead);                   \
  template void BlasDense::lower_product<T>(const Member&, T, Matrix<const T>, Matrix<const T>, T, Matrix<T>, Ahead); \
  template void BlasDense::triangle_times<T>(const Member&, Matrix<const T>, Matrix<const T>, Matrix<T>, Ahead);      \
  template void BlasDense::transposed_triangle_times<T>(const Member&, Matrix<const T>, Matrix<const T>, Matrix<T>);
FEDPP_PRODUCTS(double)
FEDPP_PRODUCTS(float)
#undef FEDPP_PRODUCTS

int BlasDense::potrf(const Member& member, Matrix<double> a) {
  int info = 0;
  if (member.team_rank() == 0) {
    if (ours(a.rows)) {
      info = host_cholesky(a);
    } else {
      dpotrf_("L", &a.rows, a.data, &a.stride, &info);
      // OpenBLAS lets NaN pass as a pivot, where LAPACK's own routine stops.
      for (int j = 0; info == 0 && j < a.rows; ++j)
        if (!(a(j, j) > 0)) info = j + 1;
    }
  }
  member.team_broadcast(info, 0);
  return info;
}

void BlasDense::invert_lower(const Member& member, Matrix<const double> l, Matrix<double> x) {
  const int m = x.rows;
  if (member.team_rank() == 0 && ours(m)) {
    host_invert_lower(l, x);
  } else if (member.team_rank() == 0) {
    const double one = 1;
    for (int c = 0; c < m; ++c)
      for (int r = 0; r < m; ++r) x(r, c) = r == c ? 1 : 0;
    for (int j = 0; j < m; j += kPanel) {  // columns from j are zero above row j
      const int rows = m - j, columns = panel(j, m);
      dtrsm_("L", "L", "N", "N", &rows, &columns, &one, l.column(j) + j, &l.stride, x.column(j) + j, &x.stride);
    }
  }
  member.team_barrier();
}

#endif

}  // namespace fedpp::gpu
