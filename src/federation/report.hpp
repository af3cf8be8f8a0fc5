// What a run leaves behind: result.json, result.h5 and the table on the terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"

namespace fedpp::federation {

/// A few lines about the run at its start: clients, sequences, ranks, backend, model. Collective.
std::string describe(Session& session);

/// Collective. Test scores of the best round (if wanted and one is kept) or of the last beside the trivial models, as a
/// table and as JSON {scores, state, calibration}.
struct Scores {
  std::string table;
  nlohmann::json json;
  std::vector<std::int64_t> unscored;  ///< TestResult::unscored of the first state
  std::vector<std::int64_t> uniforms;  ///< TestResult::uniforms of the first state
};
Scores score_states(Session& session, const RunState& state, KeptState wanted);

/// Collective. Intensity curves with 5/50/95 % bands of these clients (and their events and histogram), and the QQ of
/// the rescaled increments and the client graph where there are any, into an HDF5 file (docs/results.md).
void write_curves(Session& session, const model::Priors& theta, const std::vector<std::int64_t>& clients,
                  const std::vector<std::int64_t>& uniforms, const Communities& graph, const std::string& path);

/// Collective. result.json, result.h5, the table, after training.
void report(Session& session, RunState& state, Progress& progress, Phases& phases);

}  // namespace fedpp::federation
