// Whose prior is which: the federation's, unless a client has one of its own (theory 2.4). And where a client is pulled
// to besides.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/client.hpp"

namespace fedpp::model {

struct Priors {
  WeightPosterior common;                               ///< theta
  std::map<std::int64_t, WeightPosterior> own;          ///< by client: what it has instead
  double proximal = 0;                                  ///< mu: the objective is less mu/2 |r - centre|^2
  std::map<std::int64_t, std::vector<double>> centres;  ///< [P] by client, of all if mu > 0

  Priors() = default;
  Priors(WeightPosterior all) : common(std::move(all)) {}  // one for all is the rule: converts

  const WeightPosterior& of(std::int64_t client) const {
    const auto found = own.find(client);
    return found == own.end() ? common : found->second;
  }
};

/// The posterior of a client's weights: its own, or before its first round its prior.
inline const WeightPosterior& weights_of(const Client& client, const Priors& priors) {
  return client.state.started ? client.state.weights : priors.of(client.id);
}

}  // namespace fedpp::model
