#include "federation/round_loop.hpp"

#include <fmt/format.h>

#include <span>

#include "federation/checkpoint_schedule.hpp"
#include "federation/local_starts.hpp"
#include "federation/participants.hpp"
#include "federation/round_recorder.hpp"
#include "federation/round_validation.hpp"
#include "federation/schedule.hpp"
#include "federation/server.hpp"
#include "federation/stop_signal.hpp"
#include "federation/uploads.hpp"
#include "model/kept_block.hpp"
#include "model/local_options.hpp"
#include "model/mixing.hpp"

namespace fedpp::federation {

namespace {

class Trainer {
 public:
  Trainer(Session& session, RunState& state, Progress& progress, Phases& phases)
      : session_(session),
        config_(session.config()),
        world_(session.world()),
        state_(state),
        progress_(progress),
        phases_(phases),
        server_(session, state, progress),
        recorder_(session, state, progress, phases) {}

  /// The round loop. Returns false where a signal ended it early.
  bool run() {
    const auto& f = config_.federation;
    while (state_.next_round < f.rounds && !state_.stopping.should_stop()) {
      const std::int64_t round = state_.next_round;
      // 1. Who takes part: the same on every rank, without communication.
      const auto participants =
          sample_participants(session_.clients(), f.participants, session_.seed(), round, f.straggling_period);
      // 2. theta from rank 0 to all.
      phases_.time("broadcast", [&] { broadcast_theta(); });
      // 3. E local epochs of this rank's participants, one batch, from where their weights start.
      const auto mine = clients_of(participants);
      std::vector<model::WeightState> before;
      for (const auto* client : mine) before.push_back(client->state);
      const auto lambdas =
          phases_.time("start", [&] { return move_to_starts(session_, windows_, mine, state_.theta, round); });
      auto outcome = phases_.time("local update", [&] { return local_epochs(mine, round); });
      for (std::size_t k = 0; k < mine.size(); ++k)  // one that failed is as if it had not taken part
        if (outcome.reports[k].failure) mine[k]->state.weight_state() = std::move(before[k]);
      phases_.time("wait", [&] { world_.barrier(); });  // for the last rank's clients: not what aggregation takes
      // 4. The barycentre of the accepted uploads, by exact sums; each client's own where there are communities.
      const auto left_out = phases_.time("aggregate", [&] { return server_.aggregate(outcome, round); });
      if (server_.personalises()) phases_.time("communities", [&] { server_.personalise(outcome.uploads, round); });
      // 5. Validation; the best round is kept.
      const double score = phases_.time("validate", [&] { return validation_.score(participants, round); });
      // 6. Metrics and progress.
      state_.next_round = round + 1;
      phases_.time("metrics", [&] {
        recorder_.record({round, participants, outcome.reports, left_out, lambdas, score, server_.communities()});
      });
      // 7. Checkpoint when due, and when asked to stop.
      const auto [stop, due] = agree_on_the_end_of_the_round();
      const bool last = stop || state_.next_round == f.rounds || state_.stopping.should_stop();
      if (due || last) phases_.time("checkpoint", [&] { checkpoints_.write(last); });
      if (stop) return false;
    }
    if (state_.next_round < f.rounds)
      progress_.line(
          fmt::format("stopped after round {} of {}: federation.patience = {} validations without a better one",
                      state_.next_round, f.rounds, f.patience));
    return true;
  }

 private:
  void broadcast_theta() {
    world_.broadcast(state_.theta.common.mean, 0, "broadcast theta");
    world_.broadcast(state_.theta.common.sd, 0, "broadcast theta");
  }

  std::vector<model::Client*> clients_of(const std::vector<std::int64_t>& participants) {
    std::vector<model::Client*> mine;
    for (const auto c : participants)
      if (session_.owns(c)) mine.push_back(&session_.owned(c).model);
    return mine;
  }

  LocalOutcome local_epochs(const std::vector<model::Client*>& mine, std::int64_t round) {
    auto options = model::local_options(config_);
    options.bandwidth = state_.bandwidth;
    options.schedule = learning_rate_factor(config_.training.schedule, round, config_.federation.rounds);
    LocalWork work{state_.theta, session_.initial_prior(), options, session_.seed(), round, &kept_};
    if (session_.strategy().downloads_uploads()) {
      work.sent = last_uploads(session_, state_.uploads);
      work.event_shares = event_shares(session_);
    }
    return session_.strategy().train(mine, work);
  }

  struct EndOfRound {
    bool stop, due;
  };
  /// A signal that any rank has seen stops all; whether a checkpoint is due by rounds or by the clock is rank 0's word.
  EndOfRound agree_on_the_end_of_the_round() {
    int words[] = {stop_signal(), world_.is_root() && checkpoints_.is_due()};
    world_.allreduce(std::span<int>(words), mpi::Op::max, "metrics");
    if (words[0] != 0)
      progress_.line(fmt::format("signal {}: checkpoint after round {}, then the end", words[0], state_.next_round));
    return {words[0] != 0, words[1] != 0};
  }

  Session& session_;
  const config::Config& config_;
  mpi::Communicator& world_;
  RunState& state_;
  Progress& progress_;
  Phases& phases_;
  Server server_;
  RoundRecorder recorder_;
  model::KeptBlock kept_;
  ValidationWindows windows_{session_};
  RoundValidation validation_{session_, windows_, state_, progress_, session_.strategy().scores_received()};
  CheckpointSchedule checkpoints_{session_, state_, progress_};
};

}  // namespace

bool run_rounds(Session& session, RunState& state, Progress& progress, Phases& phases) {
  return Trainer(session, state, progress, phases).run();
}

}  // namespace fedpp::federation
