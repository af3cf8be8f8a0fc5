// What each strategy starts from, is drawn to, sends and keeps (src/federation/strategies).
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "federation/strategies/strategy.hpp"
#include "model/clients.hpp"
#include "model/loss_gradient.hpp"

namespace {
using namespace fedpp;
using config::Mode;
using federation::Uploads;

/// What was received: away from the initial distribution.
model::Priors received() {
  auto prior = test::small_prior();
  for (double& r : prior.mean) r += 0.2;
  return prior;
}

std::unique_ptr<const federation::Strategy> strategy_of(Mode mode, double proximal = 1, double mixing_rate = 0) {
  config::Federation federation;
  federation.mode = mode;
  federation.proximal = proximal;
  federation.mixing_rate = mixing_rate;
  return federation::make_strategy(federation);
}

/// Some other client's core model.
model::WeightPosterior sent_by(int client) {
  auto core = test::small_prior();
  for (std::size_t p = 0; p < core.mean.size(); ++p) core.mean[p] += 0.1 * std::sin(static_cast<double>(p) + client);
  return core;
}

struct Round {
  std::vector<model::Client> clients;
  Uploads uploads;
  std::vector<model::LocalReport> reports;
};

/// `rounds` rounds of the clients 0 .. count - 1 with the same received prior throughout.
Round train(Mode mode, double proximal, double rate, int rounds, const std::vector<int>& ids, double mixing_rate = 0,
            gpu::Divergence divergence = gpu::Divergence::kKl) {
  Round result;
  for (const int id : ids) result.clients.push_back(test::small_client(id));
  std::vector<model::Client*> participants;
  for (auto& client : result.clients) participants.push_back(&client);
  const auto strategy = strategy_of(mode, proximal, mixing_rate);
  const auto initial = test::small_prior();
  const auto priors = received();
  model::LocalOptions options;
  options.training.learning_rate = rate;
  options.divergence = divergence;
  for (int round = 0; round < rounds; ++round) {
    federation::LocalWork work{priors, initial, options, 5, round};
    if (strategy->downloads_uploads()) {
      for (int c = 0; c < 4; ++c) work.sent.push_back(sent_by(c));
      work.event_shares = {0.1, 0.2, 0.3, 0.4};
    }
    auto outcome = strategy->train(participants, work);
    result.uploads = std::move(outcome.uploads);
    result.reports = std::move(outcome.reports);
  }
  return result;
}

double distance(const model::WeightPosterior& a, const model::WeightPosterior& b) {
  double sum = 0;
  for (std::size_t p = 0; p < a.mean.size(); ++p)
    sum += std::pow(a.mean[p] - b.mean[p], 2) + std::pow(a.sd[p] - b.sd[p], 2);
  return std::sqrt(sum);
}

const std::vector<Mode> kModes{Mode::kFederated, Mode::kLocal, Mode::kFedavg, Mode::kFedprox,
                               Mode::kPerFedavg, Mode::kDitto, Mode::kFedala, Mode::kApple};

TEST(Strategies, every_participant_that_did_not_fail_sends_a_posterior) {
  for (const auto mode : kModes) {
    const auto round = train(mode, 1, 0.02, 1, {0, 1, 2});
    EXPECT_EQ(round.uploads.size(), 3u) << config::word(mode);
    for (const auto& report : round.reports) EXPECT_FALSE(report.failure.has_value()) << config::word(mode);
  }
}

TEST(Strategies, a_clients_result_does_not_depend_on_its_company) {
  for (const auto mode : kModes) {
    const auto together = train(mode, 1, 0.02, 2, {0, 1, 2}), alone = train(mode, 1, 0.02, 2, {1});
    EXPECT_EQ(test::state_of(together.clients[1]), test::state_of(alone.clients[0])) << config::word(mode);
    EXPECT_EQ(together.uploads.at(1).mean, alone.uploads.at(1).mean) << config::word(mode);
  }
}

TEST(Strategies, only_local_keeps_to_itself_and_only_one_model_is_scored_as_received) {
  for (const auto mode : kModes) {
    const auto strategy = strategy_of(mode);
    EXPECT_EQ(strategy->exchanges(), mode != Mode::kLocal);
    EXPECT_EQ(strategy->scores_received(), mode == Mode::kFedavg || mode == Mode::kFedprox);
  }
}

TEST(Strategies, fedavg_and_its_relatives_start_every_round_at_what_was_received) {
  for (const auto mode : {Mode::kFedavg, Mode::kFedprox, Mode::kPerFedavg}) {
    const auto still = train(mode, 1, 1e-12, 3, {2});  // a rate that moves nothing
    EXPECT_LT(distance(still.uploads.at(2), received().common), 1e-9) << config::word(mode);
    EXPECT_EQ(still.clients[0].state.steps, 5) << config::word(mode);  // Adam starts anew: one round's epochs
    EXPECT_EQ(still.uploads.at(2).mean, still.clients[0].state.weights.mean) << config::word(mode);
  }
  EXPECT_EQ(train(Mode::kFederated, 1, 1e-12, 3, {2}).clients[0].state.steps, 15);
}

TEST(Strategies, the_proximal_term_keeps_fedprox_near_what_was_received) {
  const auto free = train(Mode::kFedavg, 1, 0.02, 1, {1, 2}), held = train(Mode::kFedprox, 1e4, 0.02, 1, {1, 2});
  for (const int id : {1, 2})
    EXPECT_LT(distance(held.uploads.at(id), received().common), 0.7 * distance(free.uploads.at(id), received().common));
}

TEST(Strategies, the_proximal_term_is_of_means_whatever_the_divergence_and_leaves_the_spread_to_the_prior) {
  for (const auto divergence : {gpu::Divergence::kKl, gpu::Divergence::kW2, gpu::Divergence::kMmd}) {
    const auto free = train(Mode::kFedavg, 1, 0.02, 1, {1}, 0, divergence);
    const auto held = train(Mode::kFedprox, 1e4, 0.02, 1, {1}, 0, divergence);
    const auto moved = [&](const Round& round, bool sd) {
      const auto &now = round.uploads.at(1), &start = received().common;
      double sum = 0;
      for (std::size_t p = 0; p < now.mean.size(); ++p)
        sum += std::abs(sd ? now.sd[p] - start.sd[p] : now.mean[p] - start.mean[p]);
      return sum;
    };
    EXPECT_LT(moved(held, false), 0.6 * moved(free, false));
    EXPECT_NEAR(moved(held, true) / moved(free, true), 1, 0.5);
  }
}

TEST(Strategies, ditto_sends_what_fedavg_sends_and_keeps_a_personal_model) {
  const auto ditto = train(Mode::kDitto, 0.1, 0.02, 1, {1}), fedavg = train(Mode::kFedavg, 0.1, 0.02, 1, {1});
  EXPECT_EQ(ditto.uploads.at(1).mean, fedavg.uploads.at(1).mean);
  EXPECT_NE(ditto.uploads.at(1).mean, ditto.clients[0].state.weights.mean);
  const auto later = train(Mode::kDitto, 0.1, 0.02, 6, {1});
  EXPECT_EQ(later.clients[0].state.steps, 30);  // the personal model goes on
  const auto near = train(Mode::kDitto, 1e4, 0.02, 6, {1});
  EXPECT_LT(distance(near.clients[0].state.weights, received().common),
            0.5 * distance(later.clients[0].state.weights, received().common));
}

TEST(Strategies, apple_sends_its_core_and_keeps_the_mixture_as_its_posterior) {
  const auto begin = train(Mode::kApple, 0.1, 1e-12, 1, {2}, 1e-300).clients[0].state;  // nothing learned
  EXPECT_EQ(begin.mixing, (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  const auto initial = test::small_prior();
  for (std::size_t p = 0; p < initial.mean.size(); ++p) {
    const double others = 0.1 * sent_by(0).mean[p] + 0.2 * sent_by(1).mean[p] + 0.4 * sent_by(3).mean[p];
    EXPECT_NEAR(begin.weights.mean[p], others + 0.3 * initial.mean[p], 1e-10);  // its own core, not what it sent
  }
  EXPECT_LT(distance(begin.core, initial), 1e-9);
  const auto later = train(Mode::kApple, 0.1, 0.02, 3, {2}, 0.1);
  const auto& state = later.clients[0].state;
  EXPECT_EQ(later.uploads.at(2).mean, state.core.mean);
  EXPECT_NE(state.core.mean, state.weights.mean);
  EXPECT_EQ(state.steps, 15);  // the core goes on
  EXPECT_NE(state.mixing, begin.mixing);
  for (const double share : state.mixing) EXPECT_GE(share, 0);
  EXPECT_NEAR(std::accumulate(state.mixing.begin(), state.mixing.end(), 0.0), 1, 1e-12);
}

TEST(Strategies, apples_penalty_holds_the_shares_in_the_first_rounds) {
  // One round, the first, where lambda is 1; steps of 0.05 x 10 halve the distance to p_0 each.
  const auto drift = [](double penalty) {
    const auto mixing = train(Mode::kApple, penalty, 0.02, 1, {2}, 0.05).clients[0].state.mixing;
    double square = 0;
    for (std::size_t c = 0; c < 4; ++c) square += std::pow(mixing[c] - 0.1 * static_cast<double>(c + 1), 2);
    return std::sqrt(square);
  };
  EXPECT_LT(drift(10), 0.7 * drift(1e-6));
}

TEST(Strategies, apples_penalty_ends_with_the_first_tenth_of_the_rounds) {
  const auto mixing = [](double penalty, int round) {
    config::Federation federation;
    federation.mode = Mode::kApple;
    federation.rounds = 40;
    federation.proximal = penalty;
    federation.mixing_rate = 0.05;
    auto client = test::small_client(2);
    const auto initial = test::small_prior();
    const auto priors = received();
    federation::LocalWork work{priors, initial, {}, 5, round};
    for (int c = 0; c < 4; ++c) work.sent.push_back(sent_by(c));
    work.event_shares = {0.1, 0.2, 0.3, 0.4};
    federation::make_strategy(federation)->train({&client}, work);
    return client.state.mixing;
  };
  EXPECT_NE(mixing(10, 3), mixing(0, 3));
  EXPECT_EQ(mixing(10, 4), mixing(0, 4));
}

TEST(Strategies, only_apples_clients_download_what_others_sent) {
  for (const auto mode : kModes) EXPECT_EQ(strategy_of(mode)->downloads_uploads(), mode == Mode::kApple);
}

TEST(Strategies, fedala_that_does_not_learn_is_per_fedavg) {
  const auto fedala = train(Mode::kFedala, 1, 0.02, 3, {1, 2}, 1e-300),
             per_fedavg = train(Mode::kPerFedavg, 1, 0.02, 3, {1, 2});
  for (const int id : {1, 2}) {
    EXPECT_LT(distance(fedala.uploads.at(id), per_fedavg.uploads.at(id)), 1e-9);
    EXPECT_EQ(fedala.clients[id - 1].state.mixing, std::vector<double>(test::small_prior().mean.size(), 1.0));
  }
  EXPECT_TRUE(
      train(Mode::kFedala, 1, 0.02, 1, {1}).clients[0].state.mixing.empty());  // nothing of its own to mix in yet
}

TEST(Strategies, fedala_begins_anew_where_another_strategy_weighed_models) {
  const auto after_one = train(Mode::kFedala, 1, 0.02, 1, {1}).clients[0];
  const std::size_t weights = after_one.state.weights.mean.size();
  const auto next = [&](std::vector<double> mixing) {
    auto client = after_one;
    client.state.mixing = std::move(mixing);
    const auto priors = received();
    strategy_of(Mode::kFedala, 1)->train({&client}, {priors, test::small_prior(), {}, 5, 1});
    return client.state.mixing;
  };
  const auto anew = next({});
  EXPECT_EQ(anew.size(), weights);
  for (const std::size_t clients : {weights - 1, weights + 1, 10 * weights})
    EXPECT_EQ(next(std::vector<double>(clients, 0.25)), anew) << clients;
  EXPECT_NE(next(std::vector<double>(weights, 0.25)), anew);
}

TEST(Strategies, fedala_steps_down_the_loss_at_the_start_and_stays_between_own_and_received) {
  const double rate = 0.05;
  auto client = train(Mode::kFedala, 1, 0.02, 2, {2}, rate).clients[0];
  auto& state = client.state;
  double lowest = 1;
  for (const double w : state.mixing) {
    EXPECT_GE(w, 0);
    EXPECT_LE(w, 1);
    lowest = std::min(lowest, w);
  }
  EXPECT_LT(lowest, 0.9);  // it learned something
  // The next round's single step, by the paper's equation.
  const auto priors = received();
  const auto start = [&](const std::vector<double>& mixing) {
    auto mixed = state.weights;
    for (std::size_t p = 0; p < mixing.size(); ++p) {
      mixed.mean[p] += mixing[p] * (priors.common.mean[p] - mixed.mean[p]);
      mixed.sd[p] += mixing[p] * (priors.common.sd[p] - mixed.sd[p]);
    }
    return mixed;
  };
  model::LocalOptions options;
  options.training.learning_rate = 1e-12;
  const auto loss = model::LossGradient({&client}, options).at({start(state.mixing)}, 5, 2)[0];
  auto wanted = state.mixing;
  for (std::size_t p = 0; p < wanted.size(); ++p)
    wanted[p] -= rate * (loss.by_mean[p] * (priors.common.mean[p] - state.weights.mean[p]) +
                         loss.by_sd[p] * (priors.common.sd[p] - state.weights.sd[p]));
  for (double& w : wanted) w = std::min(std::max(w, 0.0), 1.0);
  const auto begin = start(wanted);
  const auto uploads =
      strategy_of(Mode::kFedala, 1, rate)->train({&client}, {priors, test::small_prior(), options, 5, 2}).uploads;
  for (std::size_t p = 0; p < wanted.size(); ++p) EXPECT_NEAR(state.mixing[p], wanted[p], 1e-12) << p;
  EXPECT_LT(distance(uploads.at(2), begin), 1e-9);  // where the epochs began
}

}  // namespace
