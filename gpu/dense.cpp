#include "gpu/dense.hpp"

#include <stdexcept>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
// The Fortran names every BLAS and LAPACK exports (OpenBLAS, MKL, the reference): no header of one vendor is needed.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
// OpenBLAS' own switch, where the BLAS is OpenBLAS.
[[gnu::weak]] void openblas_set_num_threads(int);
}
#endif

namespace fedpp::gpu {

namespace {
Dense chosen = kHostBackend ? Dense::kBlas : Dense::kTeam;
}

Dense dense() { return chosen; }

void choose_dense(const std::string& name) {
  if (name == "auto") {
    chosen = kHostBackend && team_size() == 1 ? Dense::kBlas : Dense::kTeam;
  } else if (name == "team") {
    chosen = Dense::kTeam;
  } else if (name == "blas" && kHostBackend) {
    chosen = Dense::kBlas;
  } else {
    throw std::invalid_argument("dense linear algebra '" + name + "' is not available on the backend " +
                                std::string(Exec::name()) + ": use 'auto' or 'team'");
  }
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  // Threads belong to Kokkos and ranks: a threaded BLAS below them would oversubscribe the cores and change bits.
  if (openblas_set_num_threads) openblas_set_num_threads(1);
#endif
}

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)

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

// OpenBLAS has kernels of their own for products of up to a million multiplications, a quarter faster at the sizes of a
// tile than the general ones: a larger product with few rows is cut by its columns. By shape alone, so bits do not
// move.
constexpr Index kSmallProduct = 1'000'000;

template <class T>
void BlasDense::gemm(const Member& member, Op op_a, Op op_b, int m, int n, int k, Same<T> alpha, const T* a, int lda,
                     const T* b, int ldb, Same<T> beta, T* c, int ldc) {
  if (member.team_rank() == 0 && m > 0 && n > 0) {
    const Index most = k > 0 ? kSmallProduct / (static_cast<Index>(m) * k) / 8 * 8 : n;
    const int width = op_b == Op::kNone && most >= 32 && most < n ? static_cast<int>(most) : n;
    for (int first = 0; first < n; first += width)
      product(text(op_a), text(op_b), m, n - first < width ? n - first : width, k, alpha, a, lda,
              b + static_cast<Index>(first) * ldb, ldb, beta, c + static_cast<Index>(first) * ldc, ldc);
  }
  member.team_barrier();
}

// Half of a product as panels of full products: for M below about a hundred the vendors' dsyrk and dtrmm run at half
// the rate of their dgemm or less, and panels of a cache line of rows waste little. Measured with OpenBLAS
// (bench/README.md).
template <class T>
constexpr int kPanel = 64 / sizeof(T);

template <class T>
void BlasDense::symmetric(const Member& member, int m, int k, Same<T> alpha, const T* a, int lda, const T* b, int ldb,
                          Same<T> beta, T* c, int ldc) {
  for (int j = 0; j < m && member.team_rank() == 0; j += kPanel<T>)
    product("N", "T", m - j, m - j < kPanel<T> ? m - j : kPanel<T>, k, alpha, a + j, lda, b + j, ldb, beta,
            c + j + static_cast<Index>(j) * ldc, ldc);
  member.team_barrier();
}

template <class T>
void BlasDense::triangle_times(const Member& member, int m, int n, const T* l, int ldl, const T* b, int ldb, T* c,
                               int ldc) {
  for (int i = 0; i < m && n > 0 && member.team_rank() == 0; i += kPanel<T>) {
    const int rows = m - i < kPanel<T> ? m - i : kPanel<T>;
    product("N", "N", rows, n, i + rows, Same<T>(1), l + i, ldl, b, ldb, Same<T>(0), c + i, ldc);
  }
  member.team_barrier();
}

#define FEDPP_PRODUCTS(T)                                                                                              \
  template void BlasDense::gemm<T>(const Member&, Op, Op, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  template void BlasDense::symmetric<T>(const Member&, int, int, T, const T*, int, const T*, int, T, T*, int);         \
  template void BlasDense::triangle_times<T>(const Member&, int, int, const T*, int, const T*, int, T*, int);
FEDPP_PRODUCTS(double)
FEDPP_PRODUCTS(float)
#undef FEDPP_PRODUCTS

void BlasDense::trsm(const Member& member, Op op, int m, int n, const double* l, int ldl, double* b, int ldb) {
  const double one = 1;
  if (member.team_rank() == 0 && n > 0) dtrsm_("L", "L", text(op), "N", &m, &n, &one, l, &ldl, b, &ldb);
  member.team_barrier();
}

int BlasDense::potrf(const Member& member, int m, double* a, int lda) {
  int info = 0;
  if (member.team_rank() == 0) {
    dpotrf_("L", &m, a, &lda, &info);
    // OpenBLAS lets NaN pass as a pivot, where LAPACK's own routine stops.
    for (int j = 0; info == 0 && j < m; ++j)
      if (!(a[j + static_cast<Index>(j) * lda] > 0)) info = j + 1;
  }
  member.team_broadcast(info, 0);
  return info;
}

#endif

}  // namespace fedpp::gpu
