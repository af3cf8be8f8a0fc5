// Which clients are drawn for something: to take part in a round (theory 2.0, 3.2), to be hostile
// (docs/aggregation.md).
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/draw_purpose.hpp"

namespace fedpp::federation {

/// `count` of `clients` clients, uniformly without replacement, ascending: a function of its arguments alone, apart for
/// each purpose and occasion.
std::vector<std::int64_t> draw_clients(std::int64_t clients, std::int64_t count, std::uint64_t seed,
                                       gpu::DrawPurpose purpose, std::uint64_t occasion);

/// `participants` of `clients` clients (0 or more than there are: all), uniformly without replacement, ascending. The
/// same for the `straggling_period` (G >= 1) rounds of a block, and a function of (seed, round / G) alone: independent
/// of ranks, of what was drawn before, and of resuming.
std::vector<std::int64_t> sample_participants(std::int64_t clients, std::int64_t participants, std::uint64_t seed,
                                              std::int64_t round, std::int64_t straggling_period);

}  // namespace fedpp::federation
