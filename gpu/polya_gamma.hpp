// Polya-Gamma augmentation of the sigmoid, per point (theory 1.3; Donner and Opper 2018).
#pragma once

#include "gpu/elementary.hpp"

namespace fedpp::gpu {

/// log(2 cosh(c/2)) for c >= 0, never overflowing.
KOKKOS_INLINE_FUNCTION double log_2cosh_half(double c) { return 0.5 * c + fast_log1p(fast_exp_down(-c)); }

/// What a point's augmentation needs of q(f): c = sqrt(E[f^2]) >= |E[f]|.
struct Augmentation {
  double xi;       ///< E[PG(1, c)] = tanh(c/2) / (2c)
  double sigmoid;  ///< g = exp(-Ef/2) / (2 cosh(c/2)), the thinned process's share at a node
};

/// Both from one exponential each; straight-line, so that loops over points are vectorised.
KOKKOS_INLINE_FUNCTION Augmentation augment_point(double mean, double c) {
  const double e = fast_exp_down(-c);
  const double series = 0.25 - c * c / 48.0;  // next term c^4/480: below 3e-15 for c < 1e-3
  const double closed = (1 - e) / ((1 + e) * 2 * (c < 1e-3 ? 1.0 : c));
  return {c < 1e-3 ? series : closed, fast_exp(-0.5 * (mean + c)) / (1 + e)};
}

}  // namespace fedpp::gpu
