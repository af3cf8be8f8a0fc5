// What each strategy starts from, is drawn to, sends and keeps (src/federation/strategies).
#include <gtest/gtest.h>

#include <cmath>

#include "federation/strategies/strategy.hpp"
#include "model/clients.hpp"

namespace {
using namespace fedpp;
using federation::Uploads;

/// What was received: away from the initial distribution.
model::Priors received() {
  auto prior = test::small_prior();
  for (double& r : prior.mean) r += 0.2;
  return prior;
}

struct Round {
  std::vector<model::Client> clients;
  Uploads uploads;
  std::vector<model::LocalReport> reports;
};

/// `rounds` rounds of the clients 0 .. count - 1 with the same received prior throughout.
Round train(const std::string& mode, double proximal, double rate, int rounds, const std::vector<int>& ids) {
  Round result;
  for (const int id : ids) result.clients.push_back(test::small_client(id));
  std::vector<model::Client*> participants;
  for (auto& client : result.clients) participants.push_back(&client);
  const auto strategy = federation::make_strategy(mode, proximal);
  const auto initial = test::small_prior();
  const auto priors = received();
  model::LocalOptions options;
  options.training.learning_rate = rate;
  for (int round = 0; round < rounds; ++round)
    result.reports = strategy->train(participants, {priors, initial, options, 5, round}, result.uploads);
  return result;
}

double distance(const model::WeightPosterior& a, const model::WeightPosterior& b) {
  double sum = 0;
  for (std::size_t p = 0; p < a.mean.size(); ++p) sum += (a.mean[p] - b.mean[p]) * (a.mean[p] - b.mean[p]);
  return std::sqrt(sum);
}

const std::vector<std::string> kModes{"federated", "local", "fedavg", "fedprox", "per-fedavg", "ditto"};

TEST(Strategies, every_participant_that_did_not_fail_sends_a_posterior) {
  for (const auto& mode : kModes) {
    const auto round = train(mode, 1, 0.02, 1, {0, 1, 2});
    EXPECT_EQ(round.uploads.size(), 3u) << mode;
    for (const auto& report : round.reports) EXPECT_FALSE(report.failure.has_value()) << mode;
  }
}

TEST(Strategies, a_clients_result_does_not_depend_on_its_company) {
  for (const auto& mode : kModes) {
    const auto together = train(mode, 1, 0.02, 2, {0, 1, 2}), alone = train(mode, 1, 0.02, 2, {1});
    EXPECT_EQ(test::state_of(together.clients[1]), test::state_of(alone.clients[0])) << mode;
    EXPECT_EQ(together.uploads.at(1).mean, alone.uploads.at(1).mean) << mode;
  }
}

TEST(Strategies, only_local_keeps_to_itself_and_only_one_model_is_scored_as_received) {
  for (const auto& mode : kModes) {
    const auto strategy = federation::make_strategy(mode, 1);
    EXPECT_EQ(strategy->exchanges(), mode != "local");
    EXPECT_EQ(strategy->scores_received(), mode == "fedavg" || mode == "fedprox");
  }
  EXPECT_THROW(federation::make_strategy("dance", 1), std::invalid_argument);
}

TEST(Strategies, fedavg_and_its_relatives_start_every_round_at_what_was_received) {
  for (const auto& mode : {"fedavg", "fedprox", "per-fedavg"}) {
    const auto still = train(mode, 1, 1e-12, 3, {2});  // a rate that moves nothing
    EXPECT_LT(distance(still.uploads.at(2), received().common), 1e-9) << mode;
    EXPECT_EQ(still.clients[0].state.steps, 5) << mode;  // Adam starts anew: one round's epochs
    EXPECT_EQ(still.uploads.at(2).mean, still.clients[0].state.weights.mean) << mode;
  }
  EXPECT_EQ(train("federated", 1, 1e-12, 3, {2}).clients[0].state.steps, 15);
}

TEST(Strategies, the_proximal_term_keeps_fedprox_near_what_was_received) {
  const auto free = train("fedavg", 1, 0.02, 1, {1, 2}), held = train("fedprox", 1e4, 0.02, 1, {1, 2});
  for (const int id : {1, 2})
    EXPECT_LT(distance(held.uploads.at(id), received().common), 0.7 * distance(free.uploads.at(id), received().common));
}

TEST(Strategies, ditto_sends_what_fedavg_sends_and_keeps_a_personal_model) {
  const auto ditto = train("ditto", 0.1, 0.02, 1, {1}), fedavg = train("fedavg", 0.1, 0.02, 1, {1});
  EXPECT_EQ(ditto.uploads.at(1).mean, fedavg.uploads.at(1).mean);
  EXPECT_NE(ditto.uploads.at(1).mean, ditto.clients[0].state.weights.mean);
  const auto later = train("ditto", 0.1, 0.02, 6, {1});
  EXPECT_EQ(later.clients[0].state.steps, 30);  // the personal model goes on
  const auto near = train("ditto", 1e4, 0.02, 6, {1});
  EXPECT_LT(distance(near.clients[0].state.weights, received().common),
            0.5 * distance(later.clients[0].state.weights, received().common));
}

}  // namespace
