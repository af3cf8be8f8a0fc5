// Two halves of a client's validation windows, for two choices that must not be made on the same events (theory 2.5):
// one ranks the rounds, the other says where a client's weights start.
#pragma once

#include <cstdint>

#include "data/client_data.hpp"

namespace fedpp::data {

enum class ValidationHalf { kRounds, kStarts };

/// The client with half of its validation. Of two sequences with about as many validation events (one at least half the
/// other's) each half gets one, by a seeded coin, because what a half does not have costs it nothing; a sequence
/// without such a partner is cut: each of its windows in the middle, and the coin says which part goes to which half.
/// The halves are disjoint and together the whole; the other splits and the history are as they were.
ClientData with_validation_half(const ClientData& client, ValidationHalf half, std::uint64_t seed);

}  // namespace fedpp::data
