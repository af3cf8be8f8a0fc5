// Which clients take part in a round (spec 2.0, 3.2).
#pragma once

#include <cstdint>
#include <vector>

namespace fedpp::federation {

/// `participants` of `clients` clients (0 or more than there are: all), uniformly without replacement, ascending. The
/// same for the `straggling_period` (G >= 1) rounds of a block, and a function of (seed, round / G) alone: independent
/// of ranks, of what was drawn before, and of resuming.
std::vector<std::int64_t> sample_participants(std::int64_t clients, std::int64_t participants, std::uint64_t seed,
                                              std::int64_t round, std::int64_t straggling_period);

}  // namespace fedpp::federation
