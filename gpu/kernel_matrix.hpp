// The RBF kernel on embeddings (spec 1.2), as team functions: kappa(h, h') = r exp(-|h - h'|^2 / (2 l^2)).
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"

namespace fedpp::gpu {

/// Doubles of scratch that rbf_block needs.
KOKKOS_INLINE_FUNCTION Index rbf_scratch(int dimension, int m, int n) {
  return static_cast<Index>(dimension) * m + m + n;
}

/// factor |h|^2 of n columns of h[D x n].
KOKKOS_INLINE_FUNCTION void squared_norms(const Member& member, int dimension, int n, double factor, const double* h,
                                          double* norms) {
  team_column_sums(
      member, dimension, n, [=](int i, const double* sum) { norms[i] = factor * sum[0]; },
      [=](int d, int i) {
        const double x = h[d + static_cast<Index>(i) * dimension];
        return x * x;
      });
}

/// k[m x n] = kappa(a, b) of embeddings a[D x m], b[D x n]; scratch: rbf_scratch(). One dimension takes differences,
/// more take the matrix product |a|^2 + |b|^2 - 2 a'b (clamped at 0). `ahead`: see gpu/dense.hpp.
template <class D>
KOKKOS_INLINE_FUNCTION void rbf_block(const Member& member, int dimension, double variance, double lengthscale, int m,
                                      const double* a, int n, const double* b, double* k, double* scratch,
                                      Ahead ahead = {}) {
  const double scale = 0.5 / (lengthscale * lengthscale);
  if (dimension == 1) {
    team_for_2d(member, m, n, [=](int i, int j) {
      const double difference = a[i] - b[j];
      k[i + static_cast<Index>(j) * m] = variance * fast_exp_down(-scale * difference * difference);
    });
    member.team_barrier();
    return;
  }
  double* transposed = scratch;  // [m x D]: products of untransposed matrices are the fastest, and coalesce on a device
  double* norm_a = transposed + static_cast<Index>(dimension) * m;
  double* norm_b = norm_a + m;
  squared_norms(member, dimension, m, -scale, a, norm_a);
  squared_norms(member, dimension, n, -scale, b, norm_b);
  team_for_2d(member, m, dimension, [=](int i, int d) {
    transposed[i + static_cast<Index>(d) * m] = a[d + static_cast<Index>(i) * dimension];
  });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kNone, m, n, dimension, 2 * scale, transposed, m, b, dimension, 0.0, k, m, ahead);
  team_for_2d(member, m, n, [=](int i, int j) {
    double& entry = k[i + static_cast<Index>(j) * m];
    const double exponent = entry + norm_a[i] + norm_b[j];
    entry = variance * fast_exp_down(exponent > 0 ? 0 : exponent);  // NaN stays NaN
  });
  member.team_barrier();
}

}  // namespace fedpp::gpu
