// What the clients of a session are scored, validated and started with, against plain loops over their data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "federation/curve.hpp"
#include "federation/local_starts.hpp"
#include "federation/next_events.hpp"
#include "federation/round_validation.hpp"
#include "federation/scoring.hpp"
#include "federation/state_scores.hpp"
#include "model/fit_latent.hpp"
#include "model/frozen_prediction.hpp"
#include "model/local_options.hpp"
#include "model/mixing.hpp"
#include "small_federation.hpp"

namespace {

using namespace fedpp;
using federation::KeptState;
using test::events_of;
using test::exposure_of;
using test::Federation;
using test::length_of;
using test::PopulationFederation;

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

TEST(ForecastingClient, reads_all_windows_untempered) {
  Federation federation([](config::Config& config) {
    config.model.tempering = config::Tempering::kFixed;
    config.model.temperature = 0.25;
  });
  auto& session = federation.session();
  federation.started();
  for (const auto& client : session.owned()) {
    double events = 0, length = 0;
    for (const auto split : {data::kTrain, data::kValidation, data::kTest}) {
      events += events_of(client.data, split);
      length += length_of(client.data, split);
    }
    const auto fitted = federation::forecasting_client(session, client);
    EXPECT_EQ(data::events_in(fitted.training), events);
    EXPECT_NEAR(exposure_of(fitted.training) / session.plan().clock.scale, length, 1e-6);
    EXPECT_EQ(fitted.state.weights.mean, client.model.state.weights.mean);
    double last_inducing = 0, last_trained = 0;
    for (const auto& z : fitted.inducing) last_inducing = std::max(last_inducing, *std::ranges::max_element(z.times));
    for (const auto& z : client.model.inducing)
      last_trained = std::max(last_trained, *std::ranges::max_element(z.times));
    EXPECT_GT(last_inducing, last_trained);
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

TEST(RoundValidation, scores_anew_whoever_took_part_and_in_turns_who_has_no_state_of_its_own) {
  for (const bool all_change : {false, true}) {
    Federation federation([](config::Config& config) { config.federation.participants = 2; });
    auto& session = federation.session();
    auto state = federation.started();
    session.owned(2).model.state.started = false;
    const evaluation::Score known{-100, -100, 10};
    for (const auto c : federation.all()) state.validation[c] = known;
    federation::ValidationWindows windows(session);
    const auto now = federation::validation_scores(session, windows, federation.all(), state.theta);
    federation::RoundValidation validation(session, windows, state, federation.progress(), all_change);
    validation.score({1}, 1);  // not the turn of client 2
    for (const auto c : federation.all())
      EXPECT_EQ(state.validation[c].headline, c != 1 && !all_change ? known.headline : now[c].headline) << c;
    validation.score({1}, 2);
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
    const federation::NextEventReader reader(session, client, federation::scoring_client(session, client, data::kTest),
                                             state.theta, grid);
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

}  // namespace
