#include "gpu/dense.hpp"

#include <stdexcept>

#include "gpu/host_cholesky.hpp"
#include "gpu/host_product.hpp"
#include "gpu/vendor_blas.hpp"

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
const char* text(Op op) { return op == Op::kNone ? "N" : "T"; }

void product(const char* op_a, const char* op_b, int m, int n, int k, double alpha, const double* a, int lda,
             const double* b, int ldb, double beta, double* c, int ldc) {
  dgemm_(op_a, op_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
void product(const char* op_a, const char* op_b, int m, int n, int k, float alpha, const float* a, int lda,
             const float* b, int ldb, float beta, float* c, int ldc) {
  sgemm_(op_a, op_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
}  // namespace

template <class T>
void BlasDense::gemm(const Member& member, Op op_a, Op op_b, int m, int n, int k, Same<T> alpha, const T* a, int lda,
                     const T* b, int ldb, Same<T> beta, T* c, int ldc, Ahead ahead) {
  if (member.team_rank() == 0 && m > 0 && n > 0) {
    const Index step = op_b == Op::kNone ? 1 : ldb, column = op_b == Op::kNone ? ldb : 1;
    if (m > kOurRows)
      product(text(op_a), text(op_b), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else if (op_a == Op::kNone)
      host_product<T>(Part::kWhole, m, n, k, alpha, a, lda, b, step, column, beta, c, ldc, ahead);
    else
      host_product_transposed<T>(Part::kWhole, m, n, k, alpha, a, lda, b, step, column, beta, c, ldc);
  }
  member.team_barrier();
}

// Half of a vendor's product as panels of full products: their dsyrk and dtrmm of a few hundred rows or less run at
// half the rate of their dgemm. Of a triangle's inverse, panels leave out what is zero.
constexpr int kPanel = 16;

template <class T>
void BlasDense::lower_product(const Member& member, int m, int k, Same<T> alpha, const T* a, int lda, const T* b,
                              int ldb, Same<T> beta, T* c, int ldc, Ahead ahead) {
  if (member.team_rank() == 0 && m > 0) {
    if (m <= kOurRows)
      host_product<T>(Part::kLowerResult, m, m, k, alpha, a, lda, b, ldb, 1, beta, c, ldc, ahead);
    else
      for (int j = 0; j < m; j += kPanel)
        product("N", "T", m - j, m - j < kPanel ? m - j : kPanel, k, alpha, a + j, lda, b + j, ldb, beta,
                c + j + static_cast<Index>(j) * ldc, ldc);
  }
  member.team_barrier();
}

template <class T>
void BlasDense::triangle_times(const Member& member, int m, int n, const T* l, int ldl, const T* b, int ldb, T* c,
                               int ldc, Ahead ahead) {
  if (member.team_rank() == 0 && m > 0 && n > 0) {
    if (m <= kOurRows) {
      host_product<T>(Part::kLowerTriangle, m, n, m, 1, l, ldl, b, 1, ldb, 0, c, ldc, ahead);
    } else {
      for (int i = 0; i < m; i += kPanel) {
        const int rows = m - i < kPanel ? m - i : kPanel;
        product("N", "N", rows, n, i + rows, Same<T>(1), l + i, ldl, b, ldb, Same<T>(0), c + i, ldc);
      }
    }
  }
  member.team_barrier();
}

template <class T>
void BlasDense::transposed_triangle_times(const Member& member, int m, int n, const T* l, int ldl, const T* b, int ldb,
                                          T* c, int ldc) {
  if (member.team_rank() == 0 && m > 0 && n > 0) {
    if (m <= kOurRows) {
      host_product_transposed<T>(Part::kUpperTriangle, m, n, m, 1, l, ldl, b, 1, ldb, 0, c, ldc);
    } else {
      for (int i = 0; i < m; i += kPanel) {
        const int rows = m - i < kPanel ? m - i : kPanel;
        product("T", "N", rows, n, m - i, Same<T>(1), l + i + static_cast<Index>(i) * ldl, ldl, b + i, ldb, Same<T>(0),
                c + i, ldc);
      }
    }
  }
  member.team_barrier();
}

#define FEDPP_PRODUCTS(T)                                                                                             \
  template void BlasDense::gemm<T>(const Member&, Op, Op, int, int, int, T, const T*, int, const T*, int, T, T*, int, \
                                   Ahead);                                                                            \
  template void BlasDense::lower_product<T>(const Member&, int, int, T, const T*, int, const T*, int, T, T*, int,     \
                                            Ahead);                                                                   \
  template void BlasDense::triangle_times<T>(const Member&, int, int, const T*, int, const T*, int, T*, int, Ahead);  \
  template void BlasDense::transposed_triangle_times<T>(const Member&, int, int, const T*, int, const T*, int, T*, int);
FEDPP_PRODUCTS(double)
FEDPP_PRODUCTS(float)
#undef FEDPP_PRODUCTS

int BlasDense::potrf(const Member& member, int m, double* a, int lda) {
  int info = 0;
  if (member.team_rank() == 0) {
    if (m <= kOurRows) {
      info = host_cholesky(m, a, lda);
    } else {
      dpotrf_("L", &m, a, &lda, &info);
      // OpenBLAS lets NaN pass as a pivot, where LAPACK's own routine stops.
      for (int j = 0; info == 0 && j < m; ++j)
        if (!(a[j + static_cast<Index>(j) * lda] > 0)) info = j + 1;
    }
  }
  member.team_broadcast(info, 0);
  return info;
}

void BlasDense::invert_lower(const Member& member, int m, const double* l, double* inverse) {
  if (member.team_rank() == 0 && m <= kOurRows) {
    host_invert_lower(m, l, inverse);
  } else if (member.team_rank() == 0) {
    const double one = 1;
    for (int c = 0; c < m; ++c)
      for (int r = 0; r < m; ++r) inverse[r + static_cast<Index>(c) * m] = r == c ? 1 : 0;
    for (int j = 0; j < m; j += kPanel) {  // columns from j are zero above row j
      const int rows = m - j, columns = rows < kPanel ? rows : kPanel;
      const Index corner = j + static_cast<Index>(j) * m;
      dtrsm_("L", "L", "N", "N", &rows, &columns, &one, l + corner, &m, inverse + corner, &m);
    }
  }
  member.team_barrier();
}

#endif

}  // namespace fedpp::gpu
