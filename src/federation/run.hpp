// What the commands ask of the federation, on all ranks of `world`. Each returns the process' exit code and throws
// UserError for a user's mistake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "federation/forecast.hpp"
#include "federation/kept_state.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// A signal ended the training, after a checkpoint or before its first round: the job script submits again and resumes.
inline constexpr int kExitRequeue = 75;

/// Nothing was learned: what the configuration asks for or the data are at fault, and another attempt mends neither.
inline constexpr int kExitNothingLearned = 2;

/// Where a training starts (docs/adaptation.md for the last two).
enum class Start {
  kInitialPrior,
  kResume,    ///< where a checkpoint in output.directory stopped
  kAdapt,     ///< new clients under the trained theta of another run's checkpoint
  kContinue,  ///< another run's clients, data appended: federation.rounds more
};

struct TrainingRequest {
  Start start = Start::kInitialPrior;
  std::string checkpoint;  ///< kResume: "" is the newest in output.directory
  /// For job scripts: kResume from the newest intact checkpoint (damaged ones are passed over, and said), kInitialPrior
  /// where there is none.
  bool automatic = false;
  bool accept_changes = false;         ///< kResume under another configuration
  KeptState state = KeptState::kBest;  ///< kAdapt, kContinue: of the other run
  bool profile = false;                ///< print where the time went (docs/profiling.md)
};
/// The caller has called watch_for_signals (federation/stop_signal.hpp), before MPI starts.
int run_training(const config::Config& config, const TrainingRequest& request, mpi::Communicator& world);

/// Prints the memory and time that a training would take on each rank, from the clients' sizes and a short calibration
/// (docs/profiling.md); writes nothing.
int run_estimate(const config::Config& config, mpi::Communicator& world);

struct EvaluationRequest {
  KeptState state = KeptState::kBest;
  std::string file;  ///< "": evaluation.json in output.directory
};
int run_evaluation(const config::Config& config, const EvaluationRequest& request, mpi::Communicator& world);

struct PredictionRequest {
  std::vector<std::int64_t> clients;  ///< empty: the first evaluation.curve_clients, and all for the forecast
  KeptState state = KeptState::kBest;
  std::string file;  ///< of the curves; "": none
  ForecastRequest forecast;
};
int run_prediction(const config::Config& config, const PredictionRequest& request, mpi::Communicator& world);

/// docs/probe.md. Exit code 2 where a case is malformed.
int run_probe(const std::string& case_file, const std::string& result_file, mpi::Communicator& world);

}  // namespace fedpp::federation
