// What a run says of itself before it begins.
#pragma once

#include <string>

#include "federation/session.hpp"

namespace fedpp::federation {

/// A few lines about the run at its start: clients, sequences, ranks, backend, model. Collective.
std::string describe(Session& session);

/// "9 ranks, but 4 participants a round: at most 4 ranks work at a time"; "" where all can.
std::string idle_ranks(const Session& session);

/// "[attack] noise: 2 of 20 clients are hostile; scores are of the others"
std::string describe_attack(const Session& session);

}  // namespace fedpp::federation
