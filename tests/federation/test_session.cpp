// What the clients of a session are scored, validated, started and grouped with, against plain loops over their data.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>

#include "evaluation/gap_errors.hpp"
#include "federation/adaptation.hpp"
#include "federation/checkpoint.hpp"
#include "federation/communities.hpp"
#include "federation/curve.hpp"
#include "federation/local_starts.hpp"
#include "federation/next_events.hpp"
#include "federation/personal_priors.hpp"
#include "federation/progress.hpp"
#include "federation/round_recorder.hpp"
#include "federation/round_validation.hpp"
#include "federation/scoring.hpp"
#include "federation/server.hpp"
#include "federation/state_scores.hpp"
#include "federation/uploads.hpp"
#include "gpu/runtime.hpp"
#include "model/fit_latent.hpp"
#include "model/frozen_prediction.hpp"
#include "model/local_options.hpp"
#include "model/mixing.hpp"

namespace {

using namespace fedpp;
using federation::KeptState;
using federation::RunState;

/// Sequences of unlike lengths in files of their own, three clients unless the configuration is changed.
class Federation {
 public:
  explicit Federation(const std::function<void(config::Config&)>& change = [](config::Config&) {}) {
    static const gpu::Runtime runtime(0, "auto");  // Kokkos starts once in a process
    config_.data.train = {write("train", 12, 7)};
    config_.data.clients = 3;
    config_.data.partition = config::Partition::kHomogeneous;
    config_.model.width = 5;
    config_.model.inducing = 7;
    config_.evaluation.samples = 2;
    config_.evaluation.e_steps = 10;
    config_.evaluation.trivial_models = false;
    change(config_);
    config::settle(config_);
    session_.emplace(config_, world_);
  }
  ~Federation() {
    for (const auto& path : paths_) std::filesystem::remove(path);
  }

  /// The protocol that compares users over one window.
  static void population(config::Config& config, Federation& federation) {
    config.data.protocol = config::Protocol::kPopulation;
    config.data.realisation = config::Realisation::kPooled;
    config.data.test = {federation.write("test", 6, 8)};
  }

  std::string write(const std::string& name, int sequences, unsigned seed) {
    paths_.push_back(std::filesystem::temp_directory_path() /
                     ("fedpp_session_" + std::to_string(::getpid()) + "_" + name + ".csv"));
    std::mt19937_64 engine(seed);
    std::exponential_distribution<double> gap(0.02);
    std::ofstream file(paths_.back());
    file << "sequence,time,type\n";
    for (int sequence = 0; sequence < sequences; ++sequence) {
      double t = 1000;
      for (int event = 0; event < 15 + 2 * sequence; ++event) file << sequence << ',' << (t += gap(engine)) << ",0\n";
    }
    return paths_.back();
  }

  federation::Session& session() { return *session_; }
  federation::Progress& progress() { return progress_; }
  std::vector<std::int64_t> all() const {
    std::vector<std::int64_t> clients(static_cast<std::size_t>(session_->clients()));
    std::iota(clients.begin(), clients.end(), 0);
    return clients;
  }

  /// A state in which every client has taken part, each with a posterior of its own so many sds from the prior.
  RunState started(double sds = 0.3) {
    RunState state;
    state.theta = session_->initial_prior();
    for (auto& client : session_->owned()) {
      auto own = session_->initial_prior();
      for (std::size_t p = 0; p < own.mean.size(); ++p)
        own.mean[p] += sds * own.sd[p] * std::sin(static_cast<double>(p) + 5.0 * static_cast<double>(client.data.id));
      model::restart_from(client.model, own, config_.training.sd_map);
      client.model.state.started = true;
    }
    return state;
  }

 private:
  mpi::Communicator world_ = mpi::Communicator::world();
  std::vector<std::filesystem::path> paths_;
  config::Config config_;
  std::optional<federation::Session> session_;
  federation::Progress progress_{world_, false};
};

double events_of(const data::ClientData& client, data::Split split) {
  double events = 0;
  for (const auto& s : client.sequences) events += static_cast<double>(s.events[split].size());
  return events;
}

double length_of(const data::ClientData& client, data::Split split) {
  double length = 0;
  for (const auto& s : client.sequences)
    for (const auto& window : s.windows[split]) length += window.end - window.start;
  return length;
}

double exposure_of(const std::vector<data::Realisation>& realisations) {
  double exposure = 0;
  for (const auto& r : realisations) exposure = std::accumulate(r.node_weights.begin(), r.node_weights.end(), exposure);
  return exposure;
}

class PopulationFederation : public Federation {
 public:
  PopulationFederation() : Federation([this](config::Config& config) { population(config, *this); }) {}
};

TEST(ScoringClient, reads_lists_that_validate_only_where_test_lists_are_scored) {
  PopulationFederation federation;
  auto& session = federation.session();
  for (const auto& client : session.owned()) {
    const double train = events_of(client.data, data::kTrain), held = events_of(client.data, data::kValidation);
    ASSERT_GT(held, 0);
    EXPECT_EQ(data::events_in(federation::scoring_client(session, client, data::kValidation).training), train);
    EXPECT_EQ(data::events_in(federation::scoring_client(session, client, data::kTest).training), train + held);
  }
}

TEST(ScoringClient, reads_training_windows_untempered) {
  Federation federation([](config::Config& config) {
    config.model.tempering = config::Tempering::kFixed;
    config.model.temperature = 0.25;
  });
  auto& session = federation.session();
  for (const auto& client : session.owned()) {
    const double train = events_of(client.data, data::kTrain);
    EXPECT_DOUBLE_EQ(data::events_in(client.model.training), 0.25 * train);
    for (const auto split : {data::kValidation, data::kTest}) {
      const auto scored = federation::scoring_client(session, client, split);
      EXPECT_EQ(data::events_in(scored.training), train);
      EXPECT_NEAR(exposure_of(scored.training) / session.plan().clock.scale, length_of(client.data, data::kTrain),
                  1e-6);
    }
  }
}

TEST(ValidationWindows, are_halves_where_starts_are_chosen_on_them_too) {
  using Half = data::ValidationHalf;
  for (const auto start : {config::ClientStart::kContinue, config::ClientStart::kOptimised}) {
    Federation federation([&](config::Config& config) { config.federation.client_start = start; });
    federation::ValidationWindows windows(federation.session());
    for (const auto& client : federation.session().owned()) {
      const double all = events_of(client.data, data::kValidation);
      const double rounds = data::events_in(windows.of(client, Half::kRounds)),
                   starts = data::events_in(windows.of(client, Half::kStarts));
      ASSERT_GT(all, 4);
      if (start == config::ClientStart::kOptimised) {
        EXPECT_EQ(rounds + starts, all);
        EXPECT_LT(rounds, all);
        EXPECT_LT(starts, all);
      } else {
        EXPECT_EQ(rounds, all);
        EXPECT_EQ(starts, all);
      }
    }
  }
}

TEST(LocalStarts, predict_the_half_of_the_validation_windows_that_ranks_no_rounds) {
  using Half = data::ValidationHalf;
  Federation federation([](config::Config& config) {
    config.federation.client_start = config::ClientStart::kOptimised;
    config.data.clients = 6;
  });
  auto& session = federation.session();
  for (auto& s : session.owned(5).data.sequences) s.events[data::kValidation].clear();
  const auto state = federation.started(1.5);
  std::vector<model::Client*> participants;
  std::map<std::int64_t, model::WeightPosterior> own;
  for (auto& client : session.owned()) {
    participants.push_back(&client.model);
    own[client.data.id] = client.model.state.weights;
  }
  model::fit_latent(participants, state.theta, model::local_options(session.config()), 50, session.seed());
  federation::ValidationWindows windows(session);
  const auto options = federation::prediction_options(session.config(), 1, 0);
  /// Of lambda in [0.6, 1] in steps of a hundredth, before anything is moved.
  const auto scores_of = [&](const federation::OwnedClient& client, Half of) {
    const auto& half = windows.of(client, of);
    const model::FrozenPrediction prediction({{&client.model, &half}}, options);
    std::vector<double> scores;
    for (int step = 0; step <= 40; ++step) {
      const auto mixed = model::between(state.theta.common, own[client.data.id], 0.6 + 0.01 * step);
      const auto predicted = prediction.under({mixed})[0];
      evaluation::Score score;
      for (std::size_t i = 0; i < half.size(); ++i) score += federation::score_of_expectations(half[i], predicted[i]);
      scores.push_back(score.headline);
    }
    return scores;
  };
  std::map<std::int64_t, std::vector<double>> scores;
  const auto loss = [](const std::vector<double>& all, std::size_t chosen) {  // of what there was to gain
    const auto [worst, best] = std::ranges::minmax(all);
    return (best - all[chosen]) / (best - worst);
  };
  double most_lost = 0;  // by a choice on the other half
  for (const auto& client : session.owned()) {
    scores[client.data.id] = scores_of(client, Half::kStarts);
    const auto other = scores_of(client, Half::kRounds);
    if (client.data.id < 5)
      most_lost = std::max(most_lost, loss(scores[client.data.id], std::ranges::max_element(other) - other.begin()));
  }
  EXPECT_GT(most_lost, 0.2) << "the halves agree: the test tests nothing";
  const auto lambdas = federation::move_to_starts(session, windows, participants, state.theta, 3);
  ASSERT_EQ(lambdas.size(), 6u);
  EXPECT_EQ(lambdas.at(5), 1) << "no event to choose by";
  for (const auto& [client, lambda] : lambdas) {
    if (client < 5) {
      EXPECT_LT(loss(scores[client], std::lround((lambda - 0.6) / 0.01)), 0.1) << client << ": " << lambda;
    }
    const auto start = model::between(state.theta.common, own[client], lambda);
    EXPECT_EQ(session.owned(client).model.state.weights.mean, start.mean);
  }
}

TEST(LocalStarts, are_mixed_only_of_what_a_client_has_learned) {
  Federation federation([](config::Config& config) {
    config.federation.client_start = config::ClientStart::kMix;
    config.federation.mix_lambda = 0.7;
  });
  auto& session = federation.session();
  const auto state = federation.started();
  session.owned(1).model.state.started = false;
  std::vector<model::Client*> participants;
  for (auto& client : session.owned()) participants.push_back(&client.model);
  const auto own = session.owned(0).model.state.weights, first = session.owned(1).model.state.weights;
  federation::ValidationWindows windows(session);
  const auto lambdas = federation::move_to_starts(session, windows, participants, state.theta, 0);
  EXPECT_EQ(lambdas, (std::map<std::int64_t, double>{{0, 0.7}, {2, 0.7}}));
  const auto& moved = session.owned(0).model.state.weights;
  for (std::size_t p = 0; p < own.mean.size(); ++p) {
    EXPECT_NEAR(moved.mean[p], 0.7 * own.mean[p] + 0.3 * state.theta.common.mean[p], 1e-12);
    EXPECT_NEAR(moved.sd[p], 0.7 * own.sd[p] + 0.3 * state.theta.common.sd[p], 1e-12);
  }
  EXPECT_EQ(session.owned(1).model.state.weights.mean, first.mean);
}

TEST(RoundValidation, is_per_event_of_the_clients_that_are_not_hostile) {
  Federation federation([](config::Config& config) {
    config.attack.kind = config::AttackKind::kNoise;
    config.attack.share = 0.34;
  });
  auto& session = federation.session();
  ASSERT_EQ(session.hostile().size(), 1u);
  const auto hostile = session.hostile()[0];
  for (const bool without_a_score : {false, true}) {
    auto state = federation.started();
    double number = 1;
    for (const auto c : federation.all()) {  // chosen ones, which count as nobody takes part
      state.validation[c] = {-number, 0, 10 * number};
      number *= 3;
    }
    auto& left_out = state.validation[without_a_score ? (hostile + 1) % 3 : hostile];
    left_out.headline = std::nan("");
    double headline = 0, events = 0;
    for (const auto& [client, score] : state.validation)
      if (client != hostile && std::isfinite(score.headline)) headline += score.headline, events += score.events;
    federation::ValidationWindows windows(session);
    federation::RoundValidation validation(session, windows, state, federation.progress(), false);
    EXPECT_DOUBLE_EQ(validation.score({}, 0), headline / events);
    EXPECT_EQ(state.stopping.best_missing, without_a_score ? 1 : 0);
  }
  auto state = federation.started();
  for (const auto c : federation.all()) state.validation[c] = {c == hostile ? 1e6 : -5.0, 0, 10};
  federation::ValidationWindows windows(session);
  federation::RoundValidation validation(session, windows, state, federation.progress(), false);
  EXPECT_DOUBLE_EQ(validation.score({}, 0), -0.5);
}

TEST(RoundValidation, counts_the_integral_of_clients_without_an_event_as_test_scores_do) {
  Federation federation;
  auto state = federation.started();
  state.validation = {{0, {-5, -5, 10}}, {1, {-3, -3, 0}}, {2, {-4, -4, 10}}};
  federation::ValidationWindows windows(federation.session());
  federation::RoundValidation validation(federation.session(), windows, state, federation.progress(), false);
  EXPECT_DOUBLE_EQ(validation.score({}, 0), -12.0 / 20);
}

TEST(RoundValidation, scores_anew_whoever_took_part_or_has_no_state_of_its_own) {
  for (const bool all_change : {false, true}) {
    Federation federation;
    auto& session = federation.session();
    auto state = federation.started();
    session.owned(2).model.state.started = false;
    const evaluation::Score known{-100, -100, 10};
    for (const auto c : federation.all()) state.validation[c] = known;
    federation::ValidationWindows windows(session);
    const auto now = federation::validation_scores(session, windows, federation.all(), state.theta);
    federation::RoundValidation(session, windows, state, federation.progress(), all_change).score({1}, 0);
    for (const auto c : federation.all())
      EXPECT_EQ(state.validation[c].headline, c == 0 && !all_change ? known.headline : now[c].headline) << c;
  }
}

TEST(RoundValidation, forgets_scores_of_those_that_took_part_in_a_round_that_is_not_validated) {
  Federation federation([](config::Config& config) { config.federation.validate_every = 2; });
  auto state = federation.started();
  for (const auto c : federation.all()) state.validation[c] = {-100, -100, 10};
  federation::ValidationWindows windows(federation.session());
  federation::RoundValidation validation(federation.session(), windows, state, federation.progress(), false);
  EXPECT_TRUE(std::isnan(validation.score({0, 2}, 0)));
  EXPECT_EQ(state.validation.count(0) + state.validation.count(2), 0u);
  EXPECT_EQ(state.validation.count(1), 1u);
  EXPECT_EQ(state.stopping.best_round, -1);
}

TEST(IntensityCurve, is_of_the_files_time_and_lies_in_its_band) {
  PopulationFederation federation;
  auto& session = federation.session();
  federation.started();
  const auto& window = session.plan().window;
  ASSERT_GT(window.start, 900);
  ASSERT_LT(session.plan().clock.scale, 0.5);
  const auto curve = federation::intensity_curve(session, session.owned().front(), session.initial_prior());
  EXPECT_NEAR(curve.time.front(), window.start, 1e-6);
  EXPECT_NEAR(curve.time.back(), window.end, 1e-6);
  for (std::size_t j = 0; j < curve.time.size(); ++j) {
    EXPECT_LT(curve.lower[j], curve.median[j]);
    EXPECT_LT(curve.median[j], curve.upper[j]);
    EXPECT_LT(curve.lower[j], curve.mean[j]);
    EXPECT_LT(curve.mean[j], curve.upper[j]);
  }
}

TEST(IntensityCurve, of_a_history_goes_on_to_the_end_of_its_sequences_windows) {
  Federation federation([](config::Config& config) { config.model.encoder = config::Encoder::kDecay; });
  auto& session = federation.session();
  federation.started();
  auto& sequence = session.owned(0).data.sequences.front();
  sequence.windows[data::kTest].back().end += 500;  // observed, without an event
  const auto curve = federation::intensity_curve(session, session.owned(0), session.initial_prior());
  EXPECT_NEAR(curve.time.front(), 0, 1e-9);  // elapsed since its origin
  EXPECT_NEAR(curve.time.back(), sequence.windows[data::kTest].back().end - sequence.origin, 1e-6);
}

TEST(NextEventErrors, are_in_the_files_unit_of_time_of_the_clients_that_are_not_hostile) {
  Federation federation([](config::Config& config) {
    config.attack.kind = config::AttackKind::kNoise;
    config.attack.share = 0.34;
  });
  auto& session = federation.session();
  const auto state = federation.started();
  const auto& clock = session.plan().clock;
  const auto grid = federation::next_event_grid(session);
  std::array<double, 2> events{};
  std::array<std::array<double, 4>, 2> absolute{};  // our expectation, our median, the mean and the median gap
  for (const auto& client : session.owned()) {
    if (session.hostile(client.data.id)) continue;
    const federation::NextEventReader reader(session, client, state.theta, grid);
    std::vector<double> gaps;
    for (const auto& step : evaluation::gap_steps(client.data, data::kTrain)) gaps.push_back(step.gap);
    std::ranges::sort(gaps);
    const auto n = gaps.size();
    const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(n);
    const double median = 0.5 * (gaps[n / 2] + gaps[(n - 1) / 2]);
    for (const int split : {0, 1})
      for (const auto& step : evaluation::gap_steps(client.data, static_cast<data::Split>(split + 1))) {
        const auto& sequence = client.data.sequences[step.sequence];
        const auto next = reader.after({{step.sequence, step.before, data::to_model(clock, sequence, step.previous)}},
                                       {session.seed()})[0];
        const double told[] = {next.expectation() / clock.scale, next.quantile(0.5) / clock.scale, mean, median};
        for (std::size_t row = 0; row < 4; ++row) absolute[split][row] += std::abs(told[row] - step.gap);
        events[split] += 1;
      }
  }
  const auto table = federation::next_event_errors(session, state.theta, "ours", federation.progress());
  EXPECT_EQ(table.events, events);
  for (const int split : {0, 1})
    for (std::size_t row = 0; row < 4; ++row)
      EXPECT_NEAR(table.rows[row].errors[split].absolute / absolute[split][row], 1, 1e-9) << row;
}

TEST(ScoreStates, of_one_client_are_as_calibrated_as_it_is) {
  Federation federation([](config::Config& config) { config.data.clients = 1; });
  const auto state = federation.started();
  const auto json = federation::score_states(federation.session(), state, KeptState::kLast, federation.progress()).json;
  const double ks = json["calibration"]["ks"], exact = json["calibration"]["clients"][0]["ks"];
  EXPECT_GT(json["calibration"]["increments"], 20);
  EXPECT_LE(ks, exact + 1e-12);  // at the edges of bins a thousandth wide
  EXPECT_GE(ks, exact - 1e-3);
}

TEST(ScoreStates, count_increments_within_windows_only_where_events_end_these) {
  for (const auto split_at : {config::SplitAt::kHalfway, config::SplitAt::kTime}) {
    Federation federation([&](config::Config& config) {
      config.data.clients = 1;
      config.data.split_at = split_at;
    });
    const auto state = federation.started();
    double events = 0, within = 0;  // each sequence ends with an event: none is cut off
    for (const auto& s : federation.session().owned(0).data.sequences) {
      const auto n = static_cast<double>(s.events[data::kTest].size());
      events += n;
      within += std::max(n - 1, 0.0);
    }
    ASSERT_LT(within, events);
    const auto scores = federation::score_states(federation.session(), state, KeptState::kLast, federation.progress());
    EXPECT_EQ(scores.json["calibration"]["increments"], split_at == config::SplitAt::kTime ? events : within);
  }
}

TEST(ScoreStates, leave_hostile_clients_out_of_both_states) {
  Federation federation([](config::Config& config) {
    config.attack.kind = config::AttackKind::kNoise;
    config.attack.share = 0.34;
  });
  auto& session = federation.session();
  auto state = federation.started();
  state.next_round = 2;
  state.stopping.best_round = 0;
  state.best_theta = state.theta;  // two states that are the same
  for (const auto& client : session.owned()) state.best_clients[client.data.id] = client.model.state;
  const auto json = federation::score_states(session, state, KeptState::kBest, federation.progress()).json;
  EXPECT_EQ(json["scored_round"], 1);
  double headline = 0, events = 0, increments = 0;
  for (const auto& client : json["scores"]["models"][0]["per_client"]) {
    if (session.hostile(client["client"])) continue;
    headline += client["log_likelihood"].get<double>();
    events += client["events"].get<double>();
  }
  for (const auto& client : json["calibration"]["clients"])
    if (!session.hostile(client["client"])) increments += client["increments"].get<double>();
  EXPECT_EQ(json["calibration"]["increments"], increments);
  EXPECT_NEAR(json["honest"]["headline"], headline / events, 1e-12);
  EXPECT_NEAR(json["last_round"]["headline"], headline / events, 1e-12);
}

TEST(EventShares, are_of_the_training_events) {
  Federation federation;
  auto& session = federation.session();
  double all = 0;
  for (const auto& client : session.owned()) all += events_of(client.data, data::kTrain);
  const auto shares = federation::event_shares(session);
  for (const auto& client : session.owned())
    EXPECT_DOUBLE_EQ(shares[client.data.id], events_of(client.data, data::kTrain) / all);
}

TEST(RoundRecorder, tells_what_an_elbo_gains_on_a_constant_rate) {
  Federation federation;
  auto& session = federation.session();
  auto state = federation.started();
  federation::Phases phases;
  phases.time("local update", [] {});
  std::vector<model::LocalReport> reports;
  double gained = 0, events = 0;
  for (const auto& client : session.owned()) {
    const double elbo = -10.0 - static_cast<double>(client.data.id), n = events_of(client.data, data::kTrain),
                 time = length_of(client.data, data::kTrain) * session.plan().clock.scale;
    reports.push_back({client.data.id, elbo, 0, 0, 0, std::nullopt});
    gained += elbo - (n * std::log(n / time) - n);
    events += n;
  }
  federation::RoundRecorder(session, state, federation.progress(), phases)
      .record({0, federation.all(), reports, {}, {}, -1, nullptr});
  const auto rounds = nlohmann::json::parse(state.rounds.text());
  EXPECT_NEAR(rounds[0]["elbo_gain"], gained / events, 1e-9);
}

/// Each client's posterior as its upload.
std::map<std::int64_t, model::WeightPosterior> uploads_of(const federation::Session& session) {
  std::map<std::int64_t, model::WeightPosterior> uploads;
  for (const auto& client : session.owned()) uploads[client.data.id] = client.model.state.weights;
  return uploads;
}

/// A round in which every client sent its posterior.
federation::LocalOutcome outcome_of(const federation::Session& session) {
  federation::LocalOutcome outcome{{}, uploads_of(session)};
  for (const auto& client : session.owned()) outcome.reports.push_back({client.data.id, -1, 0, 0, 0, std::nullopt});
  return outcome;
}

TEST(Server, weighs_uploads_alike_or_by_their_training_events) {
  for (const auto weights : {config::UploadWeights::kUniform, config::UploadWeights::kEvents}) {
    Federation federation([&](config::Config& config) {
      config.aggregation.weights = weights;
      config.aggregation.divergence = config::Divergence::kFedavg;
      config.data.local_fraction = 0.5;  // clients of unlike numbers of events
    });
    auto& session = federation.session();
    auto state = federation.started();
    auto outcome = outcome_of(session);
    std::vector<double> mean(session.parameters(), 0.0);
    double all = 0;
    for (const auto& client : session.owned()) {
      const double weight = weights == config::UploadWeights::kEvents ? events_of(client.data, data::kTrain) : 1;
      for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += weight * client.model.state.weights.mean[p];
      all += weight;
    }
    federation::Server server(session, state, federation.progress());
    EXPECT_TRUE(server.aggregate(outcome, 0).empty());
    for (std::size_t p = 0; p < mean.size(); ++p) EXPECT_NEAR(state.theta.common.mean[p], mean[p] / all, 1e-9) << p;
  }
}

TEST(Server, gets_to_see_what_a_hostile_client_makes_of_its_upload) {
  Federation federation([](config::Config& config) {
    config.aggregation.divergence = config::Divergence::kFedavg;
    config.attack.kind = config::AttackKind::kScaled;
    config.attack.share = 0.34;
    config.attack.strength = 10;
  });
  auto& session = federation.session();
  auto state = federation.started();
  const auto before = state.theta.common;
  auto outcome = outcome_of(session);
  std::vector<double> mean(session.parameters(), 0.0);
  for (const auto& [client, upload] : outcome.uploads)
    for (std::size_t p = 0; p < mean.size(); ++p)
      mean[p] += (before.mean[p] + (session.hostile(client) ? 10 : 1) * (upload.mean[p] - before.mean[p])) / 3;
  federation::Server server(session, state, federation.progress());
  EXPECT_TRUE(server.aggregate(outcome, 0).empty());
  for (std::size_t p = 0; p < mean.size(); ++p) EXPECT_NEAR(state.theta.common.mean[p], mean[p], 1e-9) << p;
}

TEST(Server, lets_a_client_whose_upload_it_rejects_begin_anew) {
  Federation federation;
  auto& session = federation.session();
  auto state = federation.started();
  auto outcome = outcome_of(session);
  outcome.uploads.at(1).sd[2] = 0;
  federation::Server server(session, state, federation.progress());
  const auto left_out = server.aggregate(outcome, 0);
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].client, 1);
  for (const auto& client : session.owned()) EXPECT_EQ(client.model.state.started, client.data.id != 1);
  EXPECT_EQ(outcome.uploads.count(1), 0u);
}

TEST(Server, keeps_the_bandwidth_that_it_found_in_the_uploads) {
  Federation federation([](config::Config& config) { config.aggregation.divergence = config::Divergence::kMmd; });
  auto& session = federation.session();
  auto state = federation.started();
  auto outcome = outcome_of(session);
  std::vector<double> deviations;  // from the mean of the three
  for (std::size_t p = 0; p < session.parameters(); ++p) {
    double mean = 0;
    for (const auto& [client, upload] : outcome.uploads) mean += upload.mean[p] / 3;
    for (const auto& [client, upload] : outcome.uploads) deviations.push_back(std::fabs(upload.mean[p] - mean));
  }
  std::ranges::sort(deviations);
  federation::Server server(session, state, federation.progress());
  server.aggregate(outcome, 0);
  EXPECT_NEAR(state.bandwidth, std::sqrt(2.0) * deviations[(deviations.size() + 1) / 2 - 1], 1e-9);
}

TEST(LastUploads, are_the_initial_distribution_where_a_client_sent_nothing) {
  Federation federation;
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  kept[2] = {0, uploads_of(session).at(2)};
  const auto sent = federation::last_uploads(session, kept);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1].mean, session.initial_prior().mean);
  EXPECT_EQ(sent[1].sd, session.initial_prior().sd);
  EXPECT_EQ(sent[2].mean, kept.at(2).posterior.mean);
  EXPECT_EQ(sent[2].sd, kept.at(2).posterior.sd);
}

TEST(Session, moves_training_events_of_hostile_clients_alone) {
  Federation plain, attacked([](config::Config& config) {
    config.attack.kind = config::AttackKind::kReplacedEvents;
    config.attack.share = 0.34;
    config.attack.strength = 1;
  });
  ASSERT_EQ(attacked.session().hostile().size(), 1u);
  for (const auto& client : plain.session().owned()) {
    const auto& other = attacked.session().owned(client.data.id).data;
    for (std::size_t s = 0; s < client.data.sequences.size(); ++s)
      EXPECT_EQ(other.sequences[s].events[data::kTrain] == client.data.sequences[s].events[data::kTrain],
                !attacked.session().hostile(client.data.id));
  }
}

TEST(Session, has_the_scale_of_all_clients_gaps) {
  Federation federation([](config::Config& config) { config.model.encoder = config::Encoder::kDecay; });
  auto& session = federation.session();
  double n = 0, sum = 0, squares = 0;
  for (const auto& client : session.owned())
    for (const auto& s : client.data.sequences)
      for (std::size_t j = 1; j < s.times.size() && s.times[j] <= s.windows[data::kTrain].back().end; ++j) {
        const double x = std::log(session.plan().clock.scale * (s.times[j] - s.times[j - 1]));
        n += 1;
        sum += x;
        squares += x * x;
      }
  EXPECT_NEAR(session.rules().gaps.mean, sum / n, 1e-9);
  EXPECT_NEAR(session.rules().gaps.sd, std::sqrt(squares / n - sum / n * sum / n), 1e-9);
}

TEST(ContinueClients, take_weights_and_priors_of_their_own_from_the_state_that_is_wanted) {
  Federation federation;
  auto& session = federation.session();
  const auto folder = std::filesystem::temp_directory_path() / ("fedpp_session_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  auto state = federation.started();
  state.next_round = 3;
  state.stopping.best_round = 1;
  state.best_theta = state.theta;
  const auto moved = [](model::WeightPosterior posterior, double by) {
    for (double& r : posterior.mean) r += by;
    return posterior;
  };
  const auto last = uploads_of(session);
  state.theta.own[1] = moved(last.at(1), 0.1);
  state.best_theta.own[1] = moved(last.at(1), 0.2);
  for (const auto& client : session.owned()) {
    auto best = client.model.state;
    best.weights = moved(best.weights, 0.3);
    state.best_clients[client.data.id] = best;
  }
  federation::write_checkpoint(session, state, folder.string(), 1);
  const auto header = federation::read_header((folder / "checkpoint-000003.h5").string(),
                                              federation::ReadFor::kAdaptation, session.world());
  for (const auto wanted : {KeptState::kLast, KeptState::kBest}) {
    const auto read = federation::continue_clients(session, header, wanted);
    EXPECT_EQ(read.next_round, 3);
    EXPECT_EQ(read.theta.own.size(), 1u);
    EXPECT_EQ(read.theta.own.at(1).mean, (wanted == KeptState::kBest ? state.best_theta : state.theta).own.at(1).mean);
    for (const auto& client : session.owned())
      EXPECT_EQ(client.model.state.weights.mean,
                wanted == KeptState::kBest ? moved(last.at(client.data.id), 0.3).mean : last.at(client.data.id).mean);
  }
  std::filesystem::remove_all(folder);
}

TEST(ClientGraph, convolutes_uploads_by_the_rows_of_the_positive_similarities) {
  Federation federation([](config::Config& config) {
    config.data.clients = 4;
    config.aggregation.scope = config::Scope::kSimilarityGraph;
    config.aggregation.similarity = config::Similarity::kCentredGram;
  });
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  for (const auto& [client, posterior] : uploads_of(session)) kept[client] = {0, posterior};
  const auto graph = federation::ClientGraph(session).update(kept);
  ASSERT_EQ(graph.clients, federation.all());
  double least = 1, most = 0;
  for (std::size_t u = 0; u < 4; ++u) {
    double degree = 0;
    for (std::size_t v = 0; v < 4; ++v) degree += graph.weights[4 * u + v];
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_NEAR(graph.alpha[4 * u + v], ((u == v ? 1 : 0) + graph.weights[4 * u + v]) / (1 + degree), 1e-14);
    least = std::min(least, degree / 3);
    most = std::max(most, degree / 3);
  }
  EXPECT_GT(most - least, 1e-6) << "equal degrees: the test tests little";
}

TEST(ClientGraph, is_of_the_uploads_last_sent) {
  Federation federation([](config::Config& config) { config.aggregation.scope = config::Scope::kSimilarityGraph; });
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  for (const auto& [client, posterior] : uploads_of(session)) kept[client] = {0, posterior};
  federation::ClientGraph graph(session);
  const auto first = graph.update(kept).weights;
  for (double& r : kept[1].posterior.mean) r *= -0.5;
  kept[1].round = 1;
  const auto second = graph.update(kept).weights;
  EXPECT_NE(first, second);
  EXPECT_EQ(second, federation::ClientGraph(session).update(kept).weights);
}

TEST(PersonalPriors, forget_an_upload_after_so_many_rounds) {
  Federation federation([](config::Config& config) {
    config.aggregation.scope = config::Scope::kStructuralEntropy;
    config.aggregation.keep_uploads = 2;
  });
  auto& session = federation.session();
  auto state = federation.started();
  federation::PersonalPriors priors(session);
  auto uploads = uploads_of(session);
  const federation::AggregatorOptions options{.rule = session.config().aggregation.divergence};
  EXPECT_EQ(priors.update(state, uploads, 0, options).clients, (std::vector<std::int64_t>{0, 1, 2}));
  uploads.erase(1);
  EXPECT_EQ(priors.update(state, uploads, 2, options).clients, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(state.theta.own.count(1), 1u);
  EXPECT_EQ(priors.update(state, uploads, 3, options).clients, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(state.theta.own.count(1), 0u) << "back to the common prior";
}

TEST(PersonalPriors, of_mmd_are_of_the_bandwidth_that_the_common_prior_has) {
  Federation federation([](config::Config& config) {
    config.aggregation.scope = config::Scope::kSimilarityGraph;
    config.aggregation.divergence = config::Divergence::kMmd;
  });
  auto& session = federation.session();
  std::vector<model::WeightPosterior> found;
  for (const double bandwidth : {0.01, 10.0}) {
    auto state = federation.started();
    state.bandwidth = bandwidth;
    const federation::AggregatorOptions options{.rule = config::Divergence::kMmd};  // 0: as every aggregation finds it
    federation::PersonalPriors(session).update(state, uploads_of(session), 0, options);
    found.push_back(state.theta.own.at(1));
  }
  EXPECT_NE(found[0].mean, found[1].mean);
}

}  // namespace
