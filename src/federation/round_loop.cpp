#include "federation/round_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "federation/aggregator.hpp"
#include "federation/attack.hpp"
#include "federation/checkpoint_schedule.hpp"
#include "federation/local_starts.hpp"
#include "federation/participants.hpp"
#include "federation/personal_priors.hpp"
#include "federation/round_recorder.hpp"
#include "federation/round_validation.hpp"
#include "federation/schedule.hpp"
#include "federation/stop_signal.hpp"
#include "federation/strategies/strategy.hpp"
#include "federation/uploads.hpp"
#include "model/local_update.hpp"

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
        sums_(world_),
        strategy_(make_strategy(config_.federation)),
        recorder_(session, state, progress, phases) {
    if (config_.aggregation.scope != config::Scope::kGlobal) personal_.emplace(session_);
  }

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
      const auto lambdas =
          phases_.time("start", [&] { return move_to_starts(session_, windows_, mine, state_.theta, round); });
      Uploads uploads;
      const auto reports = phases_.time("local update", [&] { return local_epochs(mine, round, uploads); });
      // 4. The barycentre of the accepted uploads, by exact sums; each client's own where there are communities.
      const auto rejected = phases_.time("aggregate", [&] { return aggregate(reports, round, uploads); });
      if (personal_)
        phases_.time("communities",
                     [&] { communities_ = personal_->update(state_, uploads, round, aggregator_options()); });
      // 5. Validation; the best round is kept.
      const double score = phases_.time("validate", [&] { return validation_.score(participants, round); });
      // 6. Metrics and progress.
      state_.next_round = round + 1;
      phases_.time("metrics", [&] {
        recorder_.record({round, participants, reports, rejected, lambdas, score, personal_ ? &communities_ : nullptr});
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

  std::vector<model::LocalReport> local_epochs(const std::vector<model::Client*>& mine, std::int64_t round,
                                               Uploads& uploads) {
    auto options = model::local_options(config_);
    options.bandwidth = state_.bandwidth;
    options.schedule = learning_rate_factor(config_.training.schedule, round, config_.federation.rounds);
    LocalWork work{state_.theta, session_.initial_prior(), options, session_.seed(), round, &kept_};
    if (strategy_->downloads_uploads()) {
      work.sent = last_uploads(session_, state_.uploads);
      work.event_shares = event_shares();
    }
    return strategy_->train(mine, work, uploads);
  }

  /// Collective.
  std::vector<double> event_shares() {
    std::vector<double> mine;
    for (const auto& client : session_.owned()) mine.push_back(events_of(client));
    auto shares = session_.share(mine, 1, "share uploads");
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= all;
    return shares;
  }

  AggregatorOptions aggregator_options() const {
    return {config_.aggregation.divergence,
            mpi::FixedPoint::one_word(static_cast<int>(config_.aggregation.fraction_bits)),
            config_.aggregation.mmd_bandwidth, config_.aggregation.estimator, config_.aggregation.trim};
  }

  /// What the server gets to see of an upload: it as it is, unless the client is hostile.
  model::WeightPosterior sent_by(std::int64_t client, const model::WeightPosterior& upload, std::int64_t round) const {
    return session_.hostile(client) ? tampered(config_, upload, state_.theta.common, client, round) : upload;
  }

  /// Uploads of participants that did not fail -> theta. Returns this rank's failed and rejected clients with reasons,
  /// and leaves in `sent` what the server accepted.
  std::vector<RejectedUpload> aggregate(const std::vector<model::LocalReport>& reports, std::int64_t round,
                                        Uploads& sent) {
    std::vector<RejectedUpload> rejected;
    std::vector<Upload> uploads;
    for (const auto& report : reports) {
      if (report.failure) {
        rejected.push_back({report.client, *report.failure});
        continue;
      }
      const auto& client = session_.owned(report.client);
      const double weight = config_.aggregation.weights == config::UploadWeights::kEvents ? events_of(client) : 1.0;
      auto& upload = sent.at(report.client);
      upload = sent_by(report.client, upload, round);
      uploads.push_back({report.client, weight, upload.mean, upload.sd});
    }
    if (!strategy_->exchanges()) {
      std::vector<RejectedUpload> unusable;
      for (const auto& upload : uploads)
        if (auto reason = reason_to_reject(upload); !reason.empty())
          unusable.push_back({upload.client, std::move(reason)});
      restart(unusable);
      rejected.insert(rejected.end(), unusable.begin(), unusable.end());
      return rejected;
    }
    auto& theta = state_.theta.common;
    const auto result = Aggregator(aggregator_options(), sums_).aggregate({theta.mean, theta.sd}, uploads);
    theta = {result.theta.mean, result.theta.sd};
    if (result.bandwidth > 0) state_.bandwidth = result.bandwidth;
    if (result.accepted == 0) progress_.line(fmt::format("round {}: no upload was accepted: theta stays", round + 1));
    if (result.mmd_unconverged > 0)
      progress_.line(fmt::format("round {}: the mmd barycentre of {} of {} weights has not converged", round + 1,
                                 result.mmd_unconverged, theta.mean.size()));
    restart(result.rejected);
    for (const auto& r : result.rejected) sent.erase(r.client);
    if (strategy_->downloads_uploads())
      for (const auto& [client, posterior] : sent) state_.uploads[client] = {round, posterior};
    rejected.insert(rejected.end(), result.rejected.begin(), result.rejected.end());
    return rejected;
  }

  /// A posterior that cannot be used is not kept: its client starts at theta when it takes part again.
  void restart(const std::vector<RejectedUpload>& rejected) {
    for (const auto& r : rejected) session_.owned(r.client).model.state.started = false;
  }

  static double events_of(const OwnedClient& client) {
    double events = 0;
    for (const auto& s : client.data.sequences) events += static_cast<double>(s.events[data::kTrain].size());
    return std::max(events, 1.0);
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
  CommunicatorSums sums_;
  std::unique_ptr<const Strategy> strategy_;
  std::optional<PersonalPriors> personal_;  ///< scopes but "global"
  Communities communities_;                 ///< of the last round
  RoundRecorder recorder_;
  model::KeptBlock kept_;
  ValidationWindows windows_{session_};
  RoundValidation validation_{session_, windows_, state_, progress_, strategy_->scores_received()};
  CheckpointSchedule checkpoints_{session_, state_, progress_};
};

}  // namespace

bool run_rounds(Session& session, RunState& state, Progress& progress, Phases& phases) {
  return Trainer(session, state, progress, phases).run();
}

}  // namespace fedpp::federation
