// How a run is doing, from the files that it leaves while it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fedpp::commands {

struct RunStatus {
  enum class State { kRunning, kFinished, kStopped, kDied } state = State::kDied;
  std::string where;  ///< host, process, job: of the lock's holder, or of the last start
  std::string version;
  std::int64_t ranks = 0, clients = 0, done = 0, rounds = 0, starts = 0;
  double seconds_a_round = 0;        ///< mean of the last ten, with their checkpoints; 0: none yet
  std::optional<double> gain;        ///< nats per training event above a constant rate
  std::optional<double> validation;  ///< of the last validated round
  std::int64_t best_round = 0;       ///< from 1; 0: none
  std::optional<double> best_validation;
  std::optional<double> imbalance;  ///< slowest rank's local update over the mean: median of the last ten
  std::int64_t left_out = 0;        ///< uploads in all rounds
  std::int64_t unreadable = 0;      ///< lines of status.jsonl
  std::string time_unit;
  std::string last_time;   ///< of the last record
  std::string checkpoint;  ///< newest by name
  std::int64_t checkpoint_bytes = 0;
  double checkpoint_age = 0;  ///< seconds
  std::string scores;         ///< a finished run's headline beside the trivial models
};

/// Reads DIR/status.jsonl, train.lock, the checkpoints' names and result.json; half-written lines are passed over.
/// \throws UserError where `directory` holds no run
RunStatus read_status(const std::string& directory);

std::string to_text(const std::string& directory, const RunStatus& status);

}  // namespace fedpp::commands
