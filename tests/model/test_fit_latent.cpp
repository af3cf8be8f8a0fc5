// Latent functions fitted under given weights: nothing else moves, they come to rest, whoever shares the batch.
#include <gtest/gtest.h>

#include <cmath>

#include "model/clients.hpp"
#include "model/fit_latent.hpp"
#include "model/prediction.hpp"

namespace {

using namespace fedpp;

model::LocalOptions fit_options() {
  model::LocalOptions o;
  o.training.samples = 2;
  return o;
}

/// Clients after two rounds, their latent functions then set back to the start.
std::vector<model::Client> restarted(const std::vector<std::int64_t>& ids) {
  std::vector<model::Client> clients;
  for (const auto id : ids) clients.push_back(test::small_client(id));
  std::vector<model::Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  for (int round = 0; round < 2; ++round) model::local_update(pointers, test::small_prior(), fit_options(), 3, round);
  for (auto& c : clients) {
    const auto fresh = test::small_client(c.id).state;
    c.state.v_mean = fresh.v_mean;
    c.state.v_factor = fresh.v_factor;
    c.state.rate = fresh.rate;
    c.state.offset = fresh.offset;
  }
  return clients;
}

void fit(std::vector<model::Client>& clients, int steps, double workspace_mb = 128) {
  std::vector<model::Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  auto o = fit_options();
  o.workspace_mb = workspace_mb;
  model::fit_latent(pointers, test::small_prior(), o, steps, 3);
}

TEST(FitLatent, weights_and_adam_stay_and_latent_functions_come_to_rest) {
  const auto before = restarted({3})[0];
  auto few = restarted({3}), many = restarted({3});
  fit(few, 400);
  fit(many, 800);
  const auto& state = few[0].state;
  EXPECT_EQ(state.weights.mean, before.state.weights.mean);
  EXPECT_EQ(state.raw, before.state.raw);
  EXPECT_EQ(state.first_mean, before.state.first_mean);
  EXPECT_EQ(state.steps, before.state.steps);
  EXPECT_NE(state.v_mean, before.state.v_mean);
  EXPECT_NE(state.rate, before.state.rate);
  for (std::size_t j = 0; j < state.v_mean.size(); ++j)
    EXPECT_NEAR(state.v_mean[j], many[0].state.v_mean[j], 0.02) << j;
}

TEST(FitLatent, a_client_before_its_first_round_is_fitted_under_the_prior) {
  std::vector<model::Client> clients{test::small_client(2)}, given{test::small_client(2)};
  given[0].state.weights = test::small_prior();
  given[0].state.started = true;
  fit(clients, 5);
  fit(given, 5);
  EXPECT_FALSE(clients[0].state.started);
  EXPECT_EQ(clients[0].state.v_mean, given[0].state.v_mean);
  EXPECT_EQ(clients[0].state.rate, given[0].state.rate);
}

TEST(FitLatent, bits_do_not_depend_on_who_shares_the_batch) {
  auto alone = restarted({6}), together = restarted({1, 6, 4}), blocks = restarted({1, 6, 4});
  fit(alone, 3);
  fit(together, 3);
  fit(blocks, 3, 0.001);
  EXPECT_EQ(test::state_of(alone[0]), test::state_of(together[1]));
  EXPECT_EQ(test::state_of(alone[0]), test::state_of(blocks[1]));
}

TEST(FitLatent, averages_over_the_samples_that_are_asked_for) {
  auto few = restarted({3}), many = restarted({3});
  fit(few, 5);
  std::vector<model::Client*> pointers{&many[0]};
  auto o = fit_options();
  o.training.samples = 7;
  model::fit_latent(pointers, test::small_prior(), o, 5, 3);
  EXPECT_NE(few[0].state.rate, many[0].state.rate);
}

/// Else a fit would say nothing about other draws than those that it is looked at with.
TEST(FitLatent, draws_other_weights_than_a_prediction) {
  auto fitted = restarted({3});
  const model::Client before = fitted[0];
  const model::PredictionOptions options{.samples = 2, .e_steps = 3, .workspace_mb = 128, .seed = 3};
  ASSERT_FALSE(model::on_averages(before, options));
  const auto predicted = model::predict({{&before, {&before.training}}}, test::small_prior(), options)[0][0][0];
  fit(fitted, 3);
  EXPECT_GT(std::fabs(predicted.rate / fitted[0].state.rate - 1), 1e-9);
}

TEST(FitLatent, a_client_that_cannot_be_factorised_stays_as_it_is_and_harms_no_one) {
  auto clients = restarted({1, 6}), healthy = restarted({6});
  auto& weights = clients[0].state.weights;
  weights.mean[weights.mean.size() - 2] = -1000;  // r = 0: K(z,z) is 0
  const auto before = test::state_of(clients[0]);
  fit(clients, 3);
  fit(healthy, 3);
  EXPECT_EQ(test::state_of(clients[0]), before);
  EXPECT_EQ(test::state_of(clients[1]), test::state_of(healthy[0]));
}

/// Half an event, to the power of the likelihood, in the time that was seen.
TEST(FitLatent, a_client_without_events_has_the_floor_of_its_tempering) {
  std::mt19937_64 engine(3);
  for (const double tempering : {1.0, 0.4}) {
    auto client =
        model::make_client(0, test::small_encoder(), {test::random_realisation(engine, 0, 100)}, 8, tempering);
    model::fit_latent({&client}, test::small_prior(), fit_options(), 1, 3);
    EXPECT_DOUBLE_EQ(client.state.rate, 0.5 * tempering / 100);
  }
}

}  // namespace
