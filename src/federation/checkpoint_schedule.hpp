// When a run's rounds are kept: by rounds, by the clock, and again where a disk was full.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

class CheckpointSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  /// \param now the clock, where it is another than the machine's
  CheckpointSchedule(Session& session, const RunState& state, Progress& progress,
                     std::function<Clock::time_point()> now = Clock::now)
      : session_(session), state_(state), progress_(progress), now_(std::move(now)) {}

  /// Whether one is due after the round that has ended, by output.checkpoint_every, output.checkpoint_minutes or a
  /// failed one before it. By this rank's clock: rank 0's word counts.
  bool is_due() const;

  /// Collective. Writes it. A disk that is full for a while costs no run: the earlier checkpoints are still there, and
  /// it is tried again after the first round that ends 1, 2, 4, 8 s later, however short the rounds are.
  /// \param last whether no round follows: then, and where it has failed for the last time, it throws
  void write(bool last);

 private:
  Session& session_;
  const RunState& state_;
  Progress& progress_;
  std::function<Clock::time_point()> now_;
  Clock::time_point last_ = now_();
  int failed_ = 0;                    ///< in a row
  Clock::time_point next_attempt_{};  ///< after a failed one
};

}  // namespace fedpp::federation
