// The RBF kernel on embeddings (spec 1.2), as team functions: kappa(h, h') = r exp(-|h - h'|^2 / (2 l^2)).
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"

namespace fedpp::gpu {

/// |h|^2 of n columns of h[D x n].
KOKKOS_INLINE_FUNCTION void squared_norms(const Member& member, int dimension, int n, const double* h, double* norms) {
  team_for(member, n, [=](Index i) {
    double sum = 0;
    for (int d = 0; d < dimension; ++d) sum += h[i * dimension + d] * h[i * dimension + d];
    norms[i] = sum;
  });
}

/// k[m x n] = kappa(a, b) of embeddings a[D x m], b[D x n]; scratch: m + n doubles. One dimension takes differences,
/// more take the matrix product |a|^2 + |b|^2 - 2 a'b (clamped at 0).
template <class D>
KOKKOS_INLINE_FUNCTION void rbf_block(const Member& member, int dimension, double variance, double lengthscale, int m,
                                      const double* a, int n, const double* b, double* k, double* scratch) {
  const double scale = 0.5 / (lengthscale * lengthscale);
  if (dimension == 1) {
    team_for_2d(member, m, n, [=](int i, int j) {
      const double difference = a[i] - b[j];
      k[i + static_cast<Index>(j) * m] = variance * fast_exp(-scale * difference * difference);
    });
    member.team_barrier();
    return;
  }
  double* norm_a = scratch;
  double* norm_b = scratch + m;
  squared_norms(member, dimension, m, a, norm_a);
  squared_norms(member, dimension, n, b, norm_b);
  D::gemm(member, Op::kTranspose, Op::kNone, m, n, dimension, -2.0, a, dimension, b, dimension, 0.0, k, m);
  team_for_2d(member, m, n, [=](int i, int j) {
    double& entry = k[i + static_cast<Index>(j) * m];
    const double squared = entry + norm_a[i] + norm_b[j];
    entry = variance * fast_exp(-scale * (squared < 0 ? 0 : squared));  // NaN stays NaN
  });
  member.team_barrier();
}

}  // namespace fedpp::gpu
