// What the stochastic step on the weights' posterior (gpu/adam.hpp) is told.
#pragma once

namespace fedpp::gpu {

/// Prior term of the weights (2.1).
enum class Divergence : int { kKl, kW2, kMmd };

/// Map from the real line to delta.
enum class SdMap : int { kSoftplus, kExp };

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double schedule = 1;      ///< factor of this round on every learning rate
  double prior_weight = 1;  ///< on the divergence
  double bandwidth = 1;     ///< d of mmd
  double proximal = 0;      ///< mu: a pull of r towards AdamState::centre beside the divergence, - mu/2 |r - centre|^2
  Divergence divergence = Divergence::kKl;
  SdMap sd_map = SdMap::kSoftplus;
};

}  // namespace fedpp::gpu
