#include "gpu/dense.hpp"

#include <stdexcept>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
// The Fortran names every BLAS and LAPACK exports (OpenBLAS, MKL, the reference): no header of one vendor is needed.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dtrmm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
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
}  // namespace

void BlasDense::gemm(const Member& member, Op op_a, Op op_b, int m, int n, int k, double alpha, const double* a,
                     int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  if (member.team_rank() == 0 && m > 0 && n > 0)
    dgemm_(text(op_a), text(op_b), &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
  member.team_barrier();
}

void BlasDense::syrk(const Member& member, int m, int k, const double* a, int lda, double* c, int ldc) {
  const double one = 1, zero = 0;
  if (member.team_rank() == 0) dsyrk_("L", "N", &m, &k, &one, a, &lda, &zero, c, &ldc);
  member.team_barrier();
}

void BlasDense::trsm(const Member& member, Op op, int m, int n, const double* l, int ldl, double* b, int ldb) {
  const double one = 1;
  if (member.team_rank() == 0 && n > 0) dtrsm_("L", "L", text(op), "N", &m, &n, &one, l, &ldl, b, &ldb);
  member.team_barrier();
}

void BlasDense::trmm(const Member& member, int m, int n, const double* l, int ldl, double* b, int ldb) {
  const double one = 1;
  if (member.team_rank() == 0 && n > 0) dtrmm_("L", "L", "N", "N", &m, &n, &one, l, &ldl, b, &ldb);
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
