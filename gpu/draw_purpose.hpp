// What random numbers under the seed are for, of all layers: a part of their counter that is given once, so that no two
// uses meet. Other keys than the seed: src/model/draw_keys.hpp.
#pragma once

#include <cassert>

#include "gpu/host_device.hpp"
#include "gpu/philox.hpp"

namespace fedpp::gpu {

/// Below 16. Another number is another result.
enum class DrawPurpose : std::uint32_t {
  kWeights = 1,       ///< samples of the weights in the inference
  kRealisations = 2,  ///< mini-batches
  kTiles = 3,         ///< and the points in them
  kParticipants = 4,
  kProbe = 5,     ///< probe points of the client graph
  kStarts = 6,    ///< choices of the Bayesian optimisation of starts
  kHostile = 7,   ///< who is hostile
  kTampered = 8,  ///< noise on a hostile upload
  kLoss = 9,      ///< samples of the weights, for the loss of a posterior that is only looked at
  kInitial = 15,  ///< the global distribution before the first round
};

/// The 128 random bits of a purpose at (x, y, z) and at `rest`, which has 28 bits.
FEDPP_HOST_DEVICE constexpr Philox::Counter random_bits(std::uint64_t seed, DrawPurpose purpose, std::uint32_t x,
                                                        std::uint32_t y, std::uint32_t z, std::uint32_t rest = 0) {
  assert((rest >> 28) == 0);
  return Philox::block({{x, y, z, (static_cast<std::uint32_t>(purpose) << 28) | rest}}, Philox::key(seed));
}

}  // namespace fedpp::gpu
