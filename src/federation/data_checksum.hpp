// Which events and windows a result is of, without saying them.
#pragma once

#include <cstdint>
#include <string>

#include "data/client_data.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// XXH3 of the events and windows of one of a client's splits.
std::uint64_t data_checksum(const data::ClientData& client, data::Split split, std::uint64_t seed = 0);

/// Collective. 16 hexadecimal digits of all clients' test events and windows: the sum of their checksums, each seeded
/// by its client's number, so that no single client's leaves its rank.
std::string test_data(Session& session);

}  // namespace fedpp::federation
