// Whose prior is which: the federation's, unless a client has one of its own (spec 2.4).
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/client.hpp"

namespace fedpp::model {

struct Priors {
  WeightPosterior common;                       ///< theta
  std::map<std::int64_t, WeightPosterior> own;  ///< by client: what it has instead

  Priors() = default;
  Priors(WeightPosterior all) : common(std::move(all)) {}  // one for all is the rule: converts

  const WeightPosterior& of(std::int64_t client) const {
    const auto found = own.find(client);
    return found == own.end() ? common : found->second;
  }
};

}  // namespace fedpp::model
