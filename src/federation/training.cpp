// fedpp train: the round loop (spec 2.0).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <numeric>
#include <optional>

#include "config/dump.hpp"
#include "config/error.hpp"
#include "config/version.hpp"
#include "federation/adaptation.hpp"
#include "federation/aggregator.hpp"
#include "federation/attack.hpp"
#include "federation/configuration_changes.hpp"
#include "federation/local_starts.hpp"
#include "federation/machine.hpp"
#include "federation/output_folder.hpp"
#include "federation/participants.hpp"
#include "federation/personal_priors.hpp"
#include "federation/phase_table.hpp"
#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/report.hpp"
#include "federation/run.hpp"
#include "federation/run_state.hpp"
#include "federation/scoring.hpp"
#include "federation/strategies/strategy.hpp"
#include "federation/uploads.hpp"
#include "gpu/runtime.hpp"
#include "io/atomic_file.hpp"
#include "model/local_update.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Set by SIGUSR1 and SIGTERM: finish the round, write a checkpoint, leave with kExitRequeue.
std::atomic<int> stop_signal{0};
void on_signal(int signal) { stop_signal = signal; }

/// What cannot be written in the middle of a run, as on a full disk, is no mistake in what the program was given: its
/// exit code lets a job script try again.
template <class F>
void as_the_machines_fault(F&& f) {
  try {
    f();
  } catch (mpi::AgreedError& error) {
    error.users_mistake = false;
    throw;
  }
}

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
        strategy_(make_strategy(config_.federation)) {
    if (config_.aggregation.scope != "global") personal_.emplace(session_);
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
      const auto lambdas = phases_.time("start", [&] { return move_to_starts(session_, mine, state_.theta, round); });
      Uploads uploads;
      const auto reports = phases_.time("local update", [&] { return local_epochs(mine, round, uploads); });
      // 4. The barycentre of the accepted uploads, by exact sums; each client's own where there are communities.
      const auto rejected = phases_.time("aggregate", [&] { return aggregate(reports, round, uploads); });
      if (personal_)
        phases_.time("communities",
                     [&] { communities_ = personal_->update(state_, uploads, round, aggregator_options()); });
      // 5. Validation; the best round is kept.
      const double validation = phases_.time("validate", [&] { return validate(participants, round); });
      // 6. Metrics and progress.
      state_.next_round = round + 1;
      phases_.time("metrics", [&] { record(round, participants, reports, rejected, lambdas, validation); });
      // 7. Checkpoint when due, and when asked to stop.
      const auto [stop, due] = agree_on_the_end_of_the_round();
      const bool last = stop || state_.next_round == f.rounds || state_.stopping.should_stop();
      if (due || last) phases_.time("checkpoint", [&] { checkpoint(last); });
      if (stop) return false;
    }
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
    model::LocalOptions options;
    options.model = config_.model;
    options.training = config_.training;
    options.divergence = divergence();
    options.bandwidth = state_.bandwidth;
    options.schedule = learning_rate_factor(config_.training.schedule, round, config_.federation.rounds);
    options.overwrite = config_.federation.client_start == "overwrite";
    options.workspace_mb = config_.backend.workspace_mb;
    LocalWork work{state_.theta, session_.initial_prior(), options, session_.seed(), round};
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

  gpu::Divergence divergence() const {
    if (config_.aggregation.divergence == "w2") return gpu::Divergence::kW2;
    if (config_.aggregation.divergence == "mmd") return gpu::Divergence::kMmd;
    return gpu::Divergence::kKl;
  }

  AggregatorOptions aggregator_options() const {
    return {rule_from(config_.aggregation.divergence),
            mpi::FixedPoint::one_word(static_cast<int>(config_.aggregation.fraction_bits)),
            config_.aggregation.mmd_bandwidth, estimator_from(config_.aggregation.estimator), config_.aggregation.trim};
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
      const double weight = config_.aggregation.weights == "events" ? events_of(client) : 1.0;
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

  /// The log-likelihood of the constant rate N / sum omega is N log(N / sum omega) - N.
  static RunState::Gain gain_on_constant_rate(const model::Client& client, double elbo) {
    double events = 0, exposure = 0;
    for (const auto& r : client.training) {
      for (const double n : r.multiplicities) events += n;
      for (const double omega : r.node_weights) exposure += omega;
    }
    return {elbo - (events > 0 ? events * (std::log(events / exposure) - 1) : 0), events};
  }

  /// Headline score per validation event over all clients; NaN where this round is not validated. Clients that did not
  /// take part keep their score: their state has not changed.
  double validate(const std::vector<std::int64_t>& participants, std::int64_t round) {
    const auto every = config_.federation.validate_every;
    if (every <= 0 || ((round + 1) % every != 0 && round + 1 != config_.federation.rounds)) {
      for (const auto c : participants) state_.validation.erase(c);  // out of date; a checkpoint tells it, too
      return std::nan("");
    }
    std::vector<std::int64_t> due;
    for (auto& client : session_.owned()) {
      const auto c = client.data.id;
      if (!client.model.state.started || !state_.validation.contains(c) || contains(participants, c) ||
          strategy_->scores_received())
        due.push_back(c);
    }
    std::vector<double> headline, events;
    mpi::together(world_, [&] {
      const auto scores = validation_scores(session_, due, state_.theta);
      for (std::size_t k = 0; k < due.size(); ++k) state_.validation[due[k]] = scores[k];
      for (const auto& [client, score] : state_.validation) {
        if (!(score.events > 0) || !std::isfinite(score.headline) || session_.hostile(client)) continue;
        headline.push_back(score.headline);
        events.push_back(score.events);
      }
    });
    const double score =
        session_.exact_total(headline, "validation scores") / session_.exact_total(events, "validation scores");
    if (state_.stopping.enter(round, score)) {
      state_.best_theta = state_.theta;
      for (const auto& client : session_.owned()) state_.best_clients[client.data.id] = client.model.state;
    }
    return score;
  }

  static bool contains(const std::vector<std::int64_t>& list, std::int64_t c) {
    return std::find(list.begin(), list.end(), c) != list.end();
  }

  void record(std::int64_t round, const std::vector<std::int64_t>& participants,
              const std::vector<model::LocalReport>& reports, const std::vector<RejectedUpload>& rejected,
              const std::map<std::int64_t, double>& lambdas, double validation) {
    std::vector<double> elbos, gains, events, alignments;
    double jitter = 0;
    for (const auto& report : reports) {
      jitter = std::max(jitter, report.jitter);
      if (report.failure) continue;
      elbos.push_back(report.elbo);
      alignments.push_back(report.alignment);
      state_.gains[report.client] = gain_on_constant_rate(session_.owned(report.client).model, report.elbo);
    }
    for (const auto& [client, gain] : state_.gains) {
      gains.push_back(gain.nats);
      events.push_back(gain.events);
    }
    const double elbo = session_.exact_total(elbos, "metrics");
    const double elbo_gain = session_.exact_total(gains, "metrics") / session_.exact_total(events, "metrics");
    jitter = world_.max(jitter, "metrics");
    std::string mine;
    for (const auto& r : rejected)
      mine += fmt::format("client {} left out of round {}: {}\n", r.client, round + 1, r.reason);
    const auto texts = world_.gather(mine, 0, "metrics");
    const auto all_lambdas = lambdas_of(participants, lambdas);
    const auto bytes = static_cast<std::int64_t>(world_.ledger().end_round());
    const double seconds = world_.max(seconds_since_last_round(), "metrics");
    const double imbalance = imbalance_of_local_updates();
    std::vector<std::string> left_out;
    for (const auto& text : texts)  // a rank's lines, one a client
      for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
        left_out.push_back(text.substr(start, end - start));
    const auto client_of = [](const std::string& line) { return std::stoll(line.substr(line.find(' '))); };
    std::sort(left_out.begin(), left_out.end(),  // by client, however many ranks there are
              [&](const auto& a, const auto& b) { return client_of(a) < client_of(b); });
    state_.rounds.push_back(
        {{"round", round + 1},
         {"elbo", elbo},
         {"elbo_gain", elbo_gain},
         {"validation", validation},
         {"participants", participants},
         {"learning_rate", config_.training.learning_rate *
                               learning_rate_factor(config_.training.schedule, round, config_.federation.rounds)},
         {"jitter", jitter},
         {"left_out", left_out},
         {"bytes_rank_0", bytes},
         {"seconds", seconds},
         {"imbalance", imbalance}});
    auto& entry = state_.rounds.back();
    if (config_.training.alignment > 0) entry["alignment"] = session_.exact_total(alignments, "metrics");
    if (!all_lambdas.empty()) entry["lambda"] = all_lambdas;
    if (personal_) {
      entry["communities"] = community_of_each(communities_, session_.clients());
      entry["structural_entropy"] = communities_.entropy;
    }
    nlohmann::ordered_json line{{"event", "round"}};
    for (const char* key : {"round", "elbo_gain", "validation", "seconds", "imbalance"})
      line[key] = state_.rounds.back()[key];
    line["left_out"] = left_out.size();
    line["best_round"] = state_.stopping.best_round + 1;
    line["best_validation"] = state_.stopping.best_score;
    progress_.record(std::move(line));
    for (const auto& text : left_out) progress_.line(text);
    progress_.round(round, config_.federation.rounds, elbo, validation, state_.stopping.best_round);
  }

  /// Collective. Of every participant; NaN (null) for those that started at their prior. Empty unless starts are mixed.
  std::vector<double> lambdas_of(const std::vector<std::int64_t>& participants,
                                 const std::map<std::int64_t, double>& mine) {
    const auto& start = config_.federation.client_start;
    if (start != "mix" && start != "optimised") return {};
    std::vector<double> own, result;
    for (const auto& client : session_.owned()) {
      const auto lambda = mine.find(client.data.id);
      own.push_back(lambda == mine.end() ? std::nan("") : lambda->second);
    }
    const auto all = session_.share(own, 1, "metrics");
    for (const auto c : participants) result.push_back(all[c]);
    return result;
  }

  double seconds_since_last_round() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

  /// The slowest rank's local update of this round over the ranks' mean (in whole microseconds: a sum that is exact).
  double imbalance_of_local_updates() {
    const double total = phases_.seconds().at("local update");
    const auto mine = static_cast<std::int64_t>((total - local_seconds_before_) * 1e6);
    local_seconds_before_ = total;
    const auto slowest = world_.allreduce(mine, mpi::Op::max, "metrics");
    const auto sum = world_.allreduce(mine, mpi::Op::sum, "metrics");
    return sum > 0 ? static_cast<double>(slowest) * world_.size() / static_cast<double>(sum) : 1;
  }

  struct EndOfRound {
    bool stop, due;
  };
  /// A signal that any rank has seen stops all; whether a checkpoint is due by rounds or by the clock is rank 0's word.
  EndOfRound agree_on_the_end_of_the_round() {
    const auto& o = config_.output;
    int due = 0;
    if (world_.is_root()) {
      const std::chrono::duration<double, std::ratio<60>> since = std::chrono::steady_clock::now() - last_checkpoint_;
      due = failed_checkpoints_ > 0 || (o.checkpoint_every > 0 && state_.next_round % o.checkpoint_every == 0) ||
            (o.checkpoint_minutes > 0 && since.count() >= o.checkpoint_minutes);
    }
    int words[] = {stop_signal.load(), due};
    world_.allreduce(std::span<int>(words), mpi::Op::max, "metrics");
    if (words[0] != 0)
      progress_.line(fmt::format("signal {}: checkpoint after round {}, then the end", words[0], state_.next_round));
    return {words[0] != 0, words[1] != 0};
  }

  /// A disk that is full for a while costs no run: the earlier checkpoints are still there, and the next round tries
  /// again.
  void checkpoint(bool last) {
    constexpr int kAttempts = 3;
    const auto& o = config_.output;
    const auto start = std::chrono::steady_clock::now();
    try {
      write_checkpoint(session_, state_, o.directory, o.checkpoints_kept);
    } catch (const mpi::AgreedError& error) {
      if (last || ++failed_checkpoints_ >= kAttempts) as_the_machines_fault([] { throw; });
      progress_.line(fmt::format("no checkpoint after round {}: {}; tried again after the next round",
                                 state_.next_round, error.what()));
      return;
    }
    failed_checkpoints_ = 0;
    last_checkpoint_ = std::chrono::steady_clock::now();
    progress_.record({{"event", "checkpoint"},
                      {"round", state_.next_round},
                      {"seconds", std::chrono::duration<double>(last_checkpoint_ - start).count()}});
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
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now(), last_checkpoint_ = last_;
  double local_seconds_before_ = 0;
  int failed_checkpoints_ = 0;  ///< in a row
};

/// Beside the results.
void archive_configuration(const config::Config& config, mpi::Communicator& world) {
  mpi::together(world, [&] {
    if (world.is_root()) io::write_file(config.output.directory + "/config.toml", config::dump(config));
  });
}

/// The start of training, or where the checkpoint of `header` leaves it.
RunState starting_state(Session& session, const TrainingRequest& request,
                        const std::optional<CheckpointHeader>& header) {
  const auto& config = session.config();
  if (request.start == Start::kAdapt) return adopt_prior(session, *header, request.best);
  if (request.start == Start::kContinue) return continue_clients(session, *header, request.best);
  if (request.start == Start::kResume) {
    auto state = read_checkpoint(session, *header, request.accept_changes);
    if (state.next_round > config.federation.rounds)
      throw UserError(fmt::format("federation.rounds = {}, but {} has done {}: ask for at least as many",
                                  config.federation.rounds, header->path, state.next_round));
    return state;
  }
  RunState state;
  state.theta = session.initial_prior();
  state.stopping.patience = config.federation.patience;
  state.bandwidth = config.aggregation.mmd_bandwidth > 0 ? config.aggregation.mmd_bandwidth : config.model.prior_sd;
  return state;
}

std::string describe_start(const TrainingRequest& request, const CheckpointHeader& header) {
  const char* round = request.best ? "best round" : "last round";
  if (request.start == Start::kAdapt) return fmt::format("prior: theta of {}, {}", header.path, round);
  if (request.start == Start::kContinue)
    return fmt::format("continued from {}, {}; {} rounds done", header.path, round, header.next_round);
  return fmt::format("resumed from {} after round {}", header.path, header.next_round);
}

/// What a person should know about a run that goes on under other settings.
std::string describe_changes(const CheckpointHeader& header, const config::Config& config) {
  const auto changes = changes_since(header.configuration, config);
  std::string text;
  if (const auto accepted = to_text(changes, true); !accepted.empty())
    text += "changed since the checkpoint, as accepted by --accept-changes:" + accepted;
  if (const auto free = to_text(changes, false); !free.empty())
    text +=
        (text.empty() ? "" : "\n") +
        ("changed since the checkpoint (how long it goes on, what is scored and written, how the machine is used):" +
         free);
  return text;
}

}  // namespace

int run_training(const config::Config& asked, const TrainingRequest& wanted, mpi::Communicator& world) {
  std::signal(SIGUSR1, on_signal);
  std::signal(SIGTERM, on_signal);
  config::Config config = asked;
  TrainingRequest request = wanted;
  const bool elsewhere = request.start == Start::kAdapt || request.start == Start::kContinue;

  // 1. What it starts from, checked before anything is written.
  std::optional<CheckpointHeader> header;
  if (elsewhere) {
    header = read_header(request.checkpoint, world);
    mpi::together(world, [&] { check_adaptable(*header, config, request.start == Start::kContinue); });
    if (request.start == Start::kContinue) config.federation.rounds += header->next_round;
  }
  const gpu::Runtime runtime(world.node_rank(), config.backend.dense);
  const auto ranks = examine_ranks(world);
  const OutputFolder folder(config, request, world);
  std::vector<std::string> passed_over;
  if (request.automatic) {
    const auto intact = newest_intact_of(config, world, &passed_over);
    request.start = intact ? Start::kResume : Start::kInitialPrior;
    request.checkpoint = intact.value_or("");
  }
  if (request.start == Start::kResume)
    header = read_header(request.checkpoint.empty() ? newest_checkpoint_of(config, world) : request.checkpoint, world);
  Phases phases;
  std::optional<gpu::Profile> profile;
  if (request.profile) profile.emplace();

  // 2. Data and clients, on the inputs' scale that the weights were trained on; the state. A mistake in the
  // configuration, the data or the checkpoint leaves no file and replaces none.
  Session session = phases.time("load", [&] { return Session(config, world, header ? header->inputs : std::nullopt); });
  RunState state = phases.time("start", [&] { return starting_state(session, request, header); });
  archive_configuration(config, world);
  Progress progress(world.is_root(), config.output.progress, config.output.directory);
  progress.line(describe(session));
  for (const auto& rank : ranks) progress.note(rank);
  for (const auto& reason : passed_over) progress.line("passed over: " + reason);
  if (header) progress.line(describe_start(request, *header));
  if (request.start == Start::kResume)
    if (const auto text = describe_changes(*header, config); !text.empty()) progress.line(text);
  if (!folder.locked())
    progress.line("this file system has no locks: nothing keeps a second run out of " + config.output.directory);
  progress.record({{"event", "start"},
                   {"version", version()},
                   {"git", git_revision()},
                   {"where", whereabouts()},
                   {"ranks", world.size()},
                   {"clients", session.clients()},
                   {"rounds", config.federation.rounds},
                   {"done", state.next_round},
                   {"time_unit", config.data.time_unit}});
  if (const auto text = beyond_window(session); !text.empty()) progress.line(text);

  // 3. The rounds.
  if (!Trainer(session, state, progress, phases).run()) {
    progress.line(fmt::format("stopped by a signal after round {}; go on with --resume", state.next_round));
    progress.record({{"event", "stopped"}, {"round", state.next_round}});
    return kExitRequeue;
  }

  // 4. Scores, curves, tables.
  as_the_machines_fault([&] { report(session, state, progress, phases); });
  if (profile) progress.line(phase_table(world, profile->entries()));
  progress.record({{"event", "finished"}, {"round", state.next_round}});
  return 0;
}

}  // namespace fedpp::federation
