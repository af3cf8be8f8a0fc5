// Divergences between diagonal Gaussians q = N(r, delta^2) and p = N(mu, sigma^2), per weight (theory 2.1): value and
// derivatives with respect to q's mean and sd. The sum over weights is the client's prior term.
#pragma once

#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

struct DivergenceTerm {
  double value, d_mean, d_sd;
};

/// KL[q || p] = 1/2 [ (mu-r)^2/sigma^2 + delta^2/sigma^2 - log(delta^2/sigma^2) - 1 ].
KOKKOS_INLINE_FUNCTION DivergenceTerm kl_divergence(double r, double delta, double mu, double sigma) {
  const double precision = 1 / (sigma * sigma);
  const double ratio = delta / sigma;
  return {0.5 * ((mu - r) * (mu - r) * precision + ratio * ratio - 1) - math::log(ratio), (r - mu) * precision,
          delta * precision - 1 / delta};
}

/// W2^2 = (mu-r)^2 + (sigma-delta)^2.
KOKKOS_INLINE_FUNCTION DivergenceTerm w2_divergence(double r, double delta, double mu, double sigma) {
  return {(mu - r) * (mu - r) + (sigma - delta) * (sigma - delta), 2 * (r - mu), 2 * (delta - sigma)};
}

/// MMD^2 with a Gaussian kernel of bandwidth d: d/sqrt(d^2+4 sigma^2) + d/sqrt(d^2+4 delta^2) - 2 d
/// exp(-(r-mu)^2/v)/sqrt(v), v = d^2 + 2 delta^2 + 2 sigma^2.
KOKKOS_INLINE_FUNCTION DivergenceTerm mmd_divergence(double r, double delta, double mu, double sigma, double d) {
  const double own = d * d + 4 * delta * delta, prior = d * d + 4 * sigma * sigma;
  const double v = d * d + 2 * (delta * delta + sigma * sigma);
  const double e = r - mu;
  const double cross = 2 * d * math::exp(-e * e / v) / math::sqrt(v);
  return {d / math::sqrt(prior) + d / math::sqrt(own) - cross, cross * 2 * e / v,
          -4 * d * delta / (own * math::sqrt(own)) - cross * 4 * delta * (e * e / v - 0.5) / v};
}

}  // namespace fedpp::gpu
