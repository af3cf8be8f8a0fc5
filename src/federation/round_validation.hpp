// The validation after a round (theory 3.3): all clients' scores on their validation windows, and whether the round is
// the best so far.
#pragma once

#include <cstdint>
#include <vector>

#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"
#include "federation/validation_windows.hpp"

namespace fedpp::federation {

class RoundValidation {
 public:
  /// \param all_change whether what a client is scored with may change in a round that it takes no part in
  RoundValidation(Session& session, ValidationWindows& windows, RunState& state, Progress& progress, bool all_change)
      : session_(session), windows_(windows), state_(state), progress_(progress), all_change_(all_change) {}

  /// Collective. Headline score per validation event over all clients; NaN where this round is not validated. Clients
  /// that did not take part keep their score, unless all change; those that never did have it renewed in turns. The best
  /// round is kept in the state.
  double score(const std::vector<std::int64_t>& participants, std::int64_t round);

 private:
  std::vector<std::int64_t> due(const std::vector<std::int64_t>& participants, std::int64_t round) const;

  Session& session_;
  ValidationWindows& windows_;
  RunState& state_;
  Progress& progress_;
  bool all_change_;
};

}  // namespace fedpp::federation
