// What a round leaves for people: its metrics in result.json, its line in status.jsonl, train.log and on the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "federation/accepted_uploads.hpp"
#include "federation/communities.hpp"
#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"
#include "model/local_report.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// One round, as a rank knows it.
struct RoundOutcome {
  std::int64_t round;
  const std::vector<std::int64_t>& participants;
  const std::vector<model::LocalReport>& reports;  ///< of this rank's
  const std::vector<RejectedUpload>& left_out;     ///< of this rank's
  const std::map<std::int64_t, double>& lambdas;   ///< of this rank's, where starts are mixed
  double validation;
  const Communities* communities;  ///< none with aggregation.scope = "global"
};

/// A client, and what there is to say about it.
using ClientLine = std::pair<std::int64_t, std::string>;

/// Collective. On rank 0 the lines of all ranks by client, however many ranks there are; empty elsewhere.
std::vector<std::string> lines_by_client(mpi::Communicator& world, const std::vector<ClientLine>& mine);

class RoundRecorder {
 public:
  RoundRecorder(Session& session, RunState& state, Progress& progress, const Phases& phases)
      : session_(session), state_(state), progress_(progress), phases_(phases) {}

  /// Collective. Appends to the state's rounds, and tells.
  void record(const RoundOutcome& outcome);

 private:
  std::vector<double> lambdas_of(const RoundOutcome& outcome);
  double seconds_since_last_round();
  double imbalance_of_local_updates();

  Session& session_;
  RunState& state_;
  Progress& progress_;
  const Phases& phases_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double local_seconds_before_ = 0;
};

}  // namespace fedpp::federation
