// The seam of the dense linear algebra inside a team: one problem's tile, column-major, its own shape. Two
// implementations with the same functions: Team (any backend, team kernels) and Blas (hosts: our own products of small
// tiles, the vendor's BLAS and LAPACK for the rest; one call per problem with its own shape, so that a problem's bits
// do not depend on who shares its batch, spec 2.2). Every function ends with a team barrier.
#pragma once

#include <type_traits>

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

/// Which implementation the kernels use on this backend.
enum class Dense { kBlas, kTeam };

/// Sets it: "auto" takes the host's on hosts whose teams have one thread. Throws where "blas" cannot work.
void choose_dense(const std::string& name);
Dense dense();

enum class Op { kNone, kTranspose };

/// T, where a call's matrices and not its factors say what T is: double, or float for products in mixed precision.
template <class T>
using Same = std::type_identity_t<T>;

/// Team kernels.
struct TeamDense {
  /// C = alpha op(A) op(B) + beta C;  op(A): [m x k], op(B): [k x n], C: [m x n].
  template <class T>
  KOKKOS_INLINE_FUNCTION static void gemm(const Member& member, Op op_a, Op op_b, int m, int n, int k, Same<T> alpha,
                                          const T* a, int lda, const T* b, int ldb, Same<T> beta, T* c, int ldc) {
    const Index row_a = op_a == Op::kNone ? 1 : lda, step_a = op_a == Op::kNone ? lda : 1;
    const Index step_b = op_b == Op::kNone ? 1 : ldb, column_b = op_b == Op::kNone ? ldb : 1;
    team_for_2d(member, m, n, [=](int i, int j) {
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * row_a + p * step_a] * b[p * step_b + j * column_b];
      T& entry = c[i + static_cast<Index>(j) * ldc];
      entry = beta == 0 ? alpha * sum : alpha * sum + beta * entry;
    });
    member.team_barrier();
  }

  /// Lower triangle of C = alpha A B' + beta C, where A B' is symmetric;  A, B: [m x k]. What becomes of the upper
  /// triangle is left open.
  template <class T>
  KOKKOS_INLINE_FUNCTION static void symmetric(const Member& member, int m, int k, Same<T> alpha, const T* a, int lda,
                                               const T* b, int ldb, Same<T> beta, T* c, int ldc) {
    team_for_2d(member, m, m, [=](int i, int j) {
      if (i < j) return;
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i + static_cast<Index>(p) * lda] * b[j + static_cast<Index>(p) * ldb];
      T& entry = c[i + static_cast<Index>(j) * ldc];
      entry = beta == 0 ? alpha * sum : alpha * sum + beta * entry;
    });
    member.team_barrier();
  }

  /// B = op(L)^-1 B;  L: [m x m] lower, B: [m x n]. A thread owns a column.
  KOKKOS_INLINE_FUNCTION static void trsm(const Member& member, Op op, int m, int n, const double* l, int ldl,
                                          double* b, int ldb) {
    team_for(member, n, [=](Index column) {
      double* x = b + column * ldb;
      if (op == Op::kNone) {
        for (int i = 0; i < m; ++i) {
          double value = x[i];
          for (int p = 0; p < i; ++p) value -= l[i + static_cast<Index>(p) * ldl] * x[p];
          x[i] = value / l[i + static_cast<Index>(i) * ldl];
        }
      } else {
        for (int i = m - 1; i >= 0; --i) {
          double value = x[i];
          for (int p = i + 1; p < m; ++p) value -= l[p + static_cast<Index>(i) * ldl] * x[p];
          x[i] = value / l[i + static_cast<Index>(i) * ldl];
        }
      }
    });
    member.team_barrier();
  }

  /// C = L B;  L: [m x m] lower with zeros above, B, C: [m x n], apart.
  template <class T>
  KOKKOS_INLINE_FUNCTION static void triangle_times(const Member& member, int m, int n, const T* l, int ldl, const T* b,
                                                    int ldb, T* c, int ldc) {
    team_for_2d(member, m, n, [=](int i, int j) {
      T value = 0;
      for (int p = 0; p <= i; ++p) value += l[i + static_cast<Index>(p) * ldl] * b[p + static_cast<Index>(j) * ldb];
      c[i + static_cast<Index>(j) * ldc] = value;
    });
    member.team_barrier();
  }

  /// Lower Cholesky factor in place (the upper triangle is left alone). Returns 0, or 1 + the index of the first pivot
  /// that is not positive, to every thread.
  KOKKOS_INLINE_FUNCTION static int potrf(const Member& member, int m, double* a, int lda) {
    for (int j = 0; j < m; ++j) {
      const double pivot = a[j + static_cast<Index>(j) * lda];
      if (!(pivot > 0)) return j + 1;  // every thread reads the same pivot: all leave together
      member.team_barrier();
      const double root = math::sqrt(pivot);
      team_for(member, m - j, [=](Index i) {
        double& entry = a[j + i + static_cast<Index>(j) * lda];
        entry = i == 0 ? root : entry / root;
      });
      member.team_barrier();
      const int rest = m - j - 1;
      team_for_2d(member, rest, rest, [=](int r, int c) {
        if (r < c) return;
        const Index row = j + 1 + r, column = j + 1 + c;
        a[row + column * lda] -= a[row + static_cast<Index>(j) * lda] * a[column + static_cast<Index>(j) * lda];
      });
      member.team_barrier();
    }
    return 0;
  }
};

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
/// host_product() and the vendor's BLAS and LAPACK, called by one thread of the team.
struct BlasDense {
  template <class T>
  static void gemm(const Member& member, Op op_a, Op op_b, int m, int n, int k, Same<T> alpha, const T* a, int lda,
                   const T* b, int ldb, Same<T> beta, T* c, int ldc);
  template <class T>
  static void symmetric(const Member& member, int m, int k, Same<T> alpha, const T* a, int lda, const T* b, int ldb,
                        Same<T> beta, T* c, int ldc);
  static void trsm(const Member& member, Op op, int m, int n, const double* l, int ldl, double* b, int ldb);
  template <class T>
  static void triangle_times(const Member& member, int m, int n, const T* l, int ldl, const T* b, int ldb, T* c,
                             int ldc);
  static int potrf(const Member& member, int m, double* a, int lda);
};
#endif

/// inverse = L^-1 with zeros above the diagonal;  L: [m x m] lower, dense.
template <class D>
KOKKOS_INLINE_FUNCTION void invert_lower(const Member& member, int m, const double* l, double* inverse) {
  team_for_2d(member, m, m, [=](int r, int c) { inverse[r + static_cast<Index>(c) * m] = r == c ? 1 : 0; });
  member.team_barrier();
  D::trsm(member, Op::kNone, m, m, l, m, inverse, m);
}

/// Calls f.template operator()<Implementation>() for the implementation chosen.
template <class F>
void with_dense(const F& f) {
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  if (dense() == Dense::kBlas) {
    f.template operator()<BlasDense>();
    return;
  }
#endif
  f.template operator()<TeamDense>();
}

}  // namespace fedpp::gpu
