#include "federation/checkpoint_schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "federation/checkpoint.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

bool CheckpointSchedule::is_due() const {
  const auto& o = session_.config().output;
  const auto now = now_();
  if (failed_ > 0) return now >= next_attempt_;
  const std::chrono::duration<double, std::ratio<60>> since = now - last_;
  return (o.checkpoint_every > 0 && state_.next_round % o.checkpoint_every == 0) ||
         (o.checkpoint_minutes > 0 && since.count() >= o.checkpoint_minutes);
}

void CheckpointSchedule::write(bool last) {
  constexpr int kAttempts = 5;
  const auto& o = session_.config().output;
  const auto start = now_();
  try {
    const auto superseded = write_checkpoint(session_, state_, o.directory, o.checkpoints_kept);
    if (!superseded.empty())
      progress_.line(
          fmt::format("superseded by this course of the run, and no longer read: {}", fmt::join(superseded, ", ")));
  } catch (mpi::AgreedError& error) {
    if (last || ++failed_ >= kAttempts) {
      error.kind = mpi::ErrorKind::kFailure;  // as with as_the_machines_fault: a job script may try again
      throw;
    }
    const std::chrono::seconds pause(1 << (failed_ - 1));
    next_attempt_ = now_() + pause;
    progress_.line(fmt::format("no checkpoint after round {}: {}; tried again after the first round that ends {} s on",
                               state_.next_round, error.what(), pause.count()));
    return;
  }
  failed_ = 0;
  last_ = now_();
  progress_.record({{"event", "checkpoint"},
                    {"round", state_.next_round},
                    {"seconds", std::chrono::duration<double>(last_ - start).count()}});
}

}  // namespace fedpp::federation
