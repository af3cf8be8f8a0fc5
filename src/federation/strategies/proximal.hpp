// A quadratic pull towards what was received, as a prior.
#pragma once

#include <cmath>

#include "federation/strategies/strategy.hpp"

namespace fedpp::federation {

/// N(mean of what each client received, 1 / proximal).
inline model::Priors around_received(const LocalWork& work, const std::vector<model::Client*>& clients,
                                     double proximal) {
  model::Priors around(work.received.common);
  for (const auto* client : clients) {
    auto& own = around.own[client->id] = work.received.of(client->id);
    own.sd.assign(own.mean.size(), 1 / std::sqrt(proximal));
  }
  return around;
}

}  // namespace fedpp::federation
