// When a run's rounds are kept: by rounds, by the clock, and again where a disk was full.
#pragma once

#include <chrono>

#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

class CheckpointSchedule {
 public:
  CheckpointSchedule(Session& session, const RunState& state, Progress& progress)
      : session_(session), state_(state), progress_(progress) {}

  /// Whether one is due after the round that has ended, by output.checkpoint_every, output.checkpoint_minutes or a
  /// failed one before it. By this rank's clock: rank 0's word counts.
  bool is_due() const;

  /// Collective. Writes it. A disk that is full for a while costs no run: the earlier checkpoints are still there, and
  /// it is tried again after the first round that ends 1, 2, 4, 8 s later, however short the rounds are.
  /// \param last whether no round follows: then, and where it has failed for the last time, it throws
  void write(bool last);

 private:
  using Clock = std::chrono::steady_clock;

  Session& session_;
  const RunState& state_;
  Progress& progress_;
  Clock::time_point last_ = Clock::now();
  int failed_ = 0;                    ///< in a row
  Clock::time_point next_attempt_{};  ///< after a failed one
};

}  // namespace fedpp::federation
