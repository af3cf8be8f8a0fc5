// The test scores of a run's state, as a table and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "federation/kept_state.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Of the best round (if wanted and one is kept) or of the last, beside the trivial models.
struct Scores {
  std::string table;
  nlohmann::json json;                 ///< {scores, test_data, state, scored_round, calibration, ...} (docs/results.md)
  std::vector<std::int64_t> unscored;  ///< TestResult::unscored of the first state
  std::vector<std::int64_t> uniforms;  ///< TestResult::uniforms of the first state
};
/// Collective.
Scores score_states(Session& session, const RunState& state, KeptState wanted, Progress& progress);

}  // namespace fedpp::federation
