// A quadratic pull towards the mean of what was received, beside the prior that all strategies share. The papers' weights
// have no spread, so the pull leaves it to the prior.
#pragma once

#include "federation/strategies/strategy.hpp"

namespace fedpp::federation {

/// The initial distribution, and proximal / 2 |r - mean of what the client received|^2.
inline model::Priors pulled_to_received(const LocalWork& work, const std::vector<model::Client*>& clients,
                                        double proximal) {
  model::Priors priors(work.initial);
  priors.proximal = proximal;
  for (const auto* client : clients) priors.centres[client->id] = work.received.of(client->id).mean;
  return priors;
}

}  // namespace fedpp::federation
