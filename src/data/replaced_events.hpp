// A client whose training data were tampered with, to measure what a federation stands (docs/aggregation.md).
#pragma once

#include <cstdint>

#include "data/client_data.hpp"

namespace fedpp::data {

/// About `share` of the training events are moved to times drawn uniformly from their sequence's training windows, in
/// the history too; their number and types stay, validation and test are as they were. Keyed by (seed, client).
void replace_events(ClientData& client, double share, std::uint64_t seed);

}  // namespace fedpp::data
