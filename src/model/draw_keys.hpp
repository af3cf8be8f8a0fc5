// Keys of random numbers outside the rounds of a training: they meet neither those of a round nor each other.
#pragma once

#include <cstdint>

#include "config/options.hpp"
#include "data/random.hpp"
#include "gpu/philox.hpp"

namespace fedpp::model {

// In the place of a round (gpu::DrawKey), for samples of the weights.
inline constexpr std::uint32_t kFrozenRound = 0xFFFFFFFDu;      ///< FrozenPrediction
inline constexpr std::uint32_t kFitRound = 0xFFFFFFFEu;         ///< fit_latent()
inline constexpr std::uint32_t kPredictionRound = 0xFFFFFFFFu;  ///< LatentPosterior, predict()
static_assert(config::kMostRounds < kFrozenRound);

/// What a client draws under a key of its own.
enum class ClientDraws : std::uint64_t {
  kFutures = 0x667574757265,        ///< "future"
  kPosterior = 0x706f73746572696f,  ///< "posterio": joint draws of the intensity
};

/// In the place of the seed.
inline gpu::Philox::Key key_of(std::uint64_t seed, ClientDraws draws, std::int64_t client) {
  return gpu::Philox::key(data::splitmix64(data::splitmix64(seed ^ static_cast<std::uint64_t>(draws)) ^
                                           static_cast<std::uint64_t>(client)));
}

}  // namespace fedpp::model
