// Hostile clients, to measure what a federation stands (docs/aggregation.md): who they are, and what they send.
#pragma once

#include <cstdint>
#include <vector>

#include "config/options.hpp"
#include "model/client.hpp"

namespace fedpp::federation {

/// The hostile clients, ascending: attack.share of all, to the nearest number, drawn by the seed alone. Empty for kind
/// "none".
std::vector<std::int64_t> hostile_clients(const config::Config& config);

/// What hostile client `client` sends in place of `upload` in `round`, theta being what all have received:
///   noise         r + strength sigma z, z ~ N(0, 1) anew for each weight and round
///   scaled        mu + strength (r - mu)
///   sign-flipped  mu - strength (r - mu)
/// delta stays. For "replaced-events" the upload itself: the data were tampered with (data/replaced_events.hpp).
model::WeightPosterior tampered(const config::Config& config, const model::WeightPosterior& upload,
                                const model::WeightPosterior& theta, std::int64_t client, std::int64_t round);

}  // namespace fedpp::federation
