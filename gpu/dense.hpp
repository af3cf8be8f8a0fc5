// The seam of the dense linear algebra inside a team: one problem's matrices, of their own shapes. Two implementations
// with the same functions: TeamDense (any backend, gpu/team_dense.hpp) and BlasDense (hosts: our own products, factors
// and inverses up to kOurRows rows, the vendor's BLAS and LAPACK beyond; one call per problem with its own shape, so
// that a problem's bits do not depend on who shares its batch, theory 2.2). Every function ends with a team barrier.
//
// product: C = alpha A B + beta C, A and B matrices or transposed() ones; C is not read where beta is 0.
//
// lower_product: lower triangle of C = alpha A B' + beta C;  A, B: [m x k]. What becomes of the upper triangle is left
// open.
//
// triangle_times: C = L B, transposed_triangle_times: C = L' B;  L: [m x m] lower with zeros above, B, C: [m x n],
// apart.
//
// `ahead`: what the caller reads or writes next, for a host's caches (gpu/ahead.hpp).
//
// potrf: lower Cholesky factor in place, the upper triangle is left alone. Returns 0, or 1 + the index of the first
// pivot that is not positive (which then stands on the diagonal), to every thread.
//
// invert_lower: X = L^-1 with zeros above the diagonal;  L, X: [m x m] without gaps, L lower, its upper triangle is not
// read.
#pragma once

#include "gpu/dense_choice.hpp"
#include "gpu/team_dense.hpp"

namespace fedpp::gpu {

#if !defined(FEDPP_DEVICE_BACKEND)
/// host_product(), host_cholesky() and the vendor's BLAS and LAPACK, called by one thread of the team.
struct BlasDense {
  template <class T>
  static void product(const Member& member, Same<T> alpha, Factor<Same<T>> a, Factor<Same<T>> b, Same<T> beta,
                      Matrix<T> c, Ahead ahead = {});
  template <class T>
  static void lower_product(const Member& member, Same<T> alpha, Matrix<const Same<T>> a, Matrix<const Same<T>> b,
                            Same<T> beta, Matrix<T> c, Ahead ahead = {});
  template <class T>
  static void triangle_times(const Member& member, Matrix<const Same<T>> l, Matrix<const Same<T>> b, Matrix<T> c,
                             Ahead ahead = {});
  template <class T>
  static void transposed_triangle_times(const Member& member, Matrix<const Same<T>> l, Matrix<const Same<T>> b,
                                        Matrix<T> c);
  static int potrf(const Member& member, Matrix<double> a);
  static void invert_lower(const Member& member, Matrix<const double> l, Matrix<double> x);
};
#endif

/// Calls f.template operator()<Implementation>() for the implementation chosen.
template <class F>
void with_dense(const F& f) {
#if !defined(FEDPP_DEVICE_BACKEND)
  if (dense() == Dense::kBlas) {
    f.template operator()<BlasDense>();
    return;
  }
#endif
  f.template operator()<TeamDense>();
}

}  // namespace fedpp::gpu
