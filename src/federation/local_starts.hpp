// Where the weights of participants start their local epochs (theory 2.5, federation.client_start): their own posterior
// (lambda = 1), the prior that they received (0), or a point between them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "federation/session.hpp"
#include "federation/validation_windows.hpp"
#include "model/priors.hpp"

namespace fedpp::federation {

/// Moves this rank's `participants` that took part before to their starts; returns the lambda of each. "optimised": of
/// 20 values in [0.6, 1] the one whose mixture predicts one half of the client's validation windows best, q(v), m and
/// nu held: Bayesian optimisation, all clients evaluated together in each of its steps. A client without events there
/// keeps its own posterior (lambda = 1). Nothing is moved, and the result is empty, for "continue" and "overwrite".
std::map<std::int64_t, double> move_to_starts(Session& session, ValidationWindows& windows,
                                              const std::vector<model::Client*>& participants,
                                              const model::Priors& priors, std::int64_t round);

}  // namespace fedpp::federation
