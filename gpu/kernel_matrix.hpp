// The RBF kernel on embeddings (theory 1.2), as team functions: kappa(h, h') = r exp(-|h - h'|^2 / (2 l^2)).
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"

namespace fedpp::gpu {

/// Doubles of scratch that rbf_block needs.
KOKKOS_INLINE_FUNCTION Index rbf_scratch(int dimension, int m, int n) {
  return static_cast<Index>(dimension) * m + m + n;
}

/// factor |h|^2 of the columns of h.
KOKKOS_INLINE_FUNCTION void squared_norms(const Member& member, double factor, Matrix<const double> h, double* norms) {
  team_column_sums(
      member, h.rows, h.columns, [=](int i, const double* sum) { norms[i] = factor * sum[0]; },
      [=](int d, int i) { return h(d, i) * h(d, i); });
}

/// k[m x n] = kappa(a, b) of embeddings a[D x m], b[D x n]; scratch: rbf_scratch(). One dimension takes differences,
/// more take the matrix product |a|^2 + |b|^2 - 2 a'b (clamped at 0). `ahead`: see gpu/dense.hpp.
template <class D>
KOKKOS_INLINE_FUNCTION void rbf_block(const Member& member, double variance, double lengthscale, Matrix<const double> a,
                                      Matrix<const double> b, Matrix<double> k, double* scratch, Ahead ahead = {}) {
  const int dimension = a.rows, m = k.rows, n = k.columns;
  const double scale = 0.5 / (lengthscale * lengthscale);
  if (dimension == 1) {
    team_for_2d(member, m, n, [=](int i, int j) {
      const double difference = a[i] - b[j];
      k(i, j) = variance * fast_exp_down(-scale * difference * difference);
    });
    member.team_barrier();
    return;
  }
  const Matrix<double> a_transposed(scratch, m, dimension);  // products of untransposed matrices are the fastest, and
  double* norm_a = scratch + a_transposed.size();            // coalesce on a device
  double* norm_b = norm_a + m;
  squared_norms(member, -scale, a, norm_a);
  squared_norms(member, -scale, b, norm_b);
  team_for_2d(member, m, dimension, [=](int i, int d) { a_transposed(i, d) = a(d, i); });
  member.team_barrier();
  D::product(member, 2 * scale, a_transposed, b, 0, k, ahead);
  team_for_2d(member, m, n, [=](int i, int j) {
    const double exponent = k(i, j) + norm_a[i] + norm_b[j];
    k(i, j) = variance * fast_exp_down(exponent > 0 ? 0 : exponent);  // NaN stays NaN
  });
  member.team_barrier();
}

}  // namespace fedpp::gpu
