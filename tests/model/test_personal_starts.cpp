// What a client needs to choose where its weights start: points between, predictions with q(v) held, embeddings alone.
#include <gtest/gtest.h>

#include <cmath>

#include "clients.hpp"
#include "gpu/adam.hpp"
#include "model/embeddings.hpp"
#include "model/frozen_prediction.hpp"
#include "model/mixing.hpp"
#include "model/prediction.hpp"

namespace {
using namespace fedpp;

TEST(Mixing, RunsFromThePriorToTheClientsOwn) {
  const model::WeightPosterior prior{{1, -2}, {0.5, 0.1}}, own{{3, 4}, {0.1, 0.3}};
  EXPECT_EQ(model::between(prior, own, 1).mean, own.mean);
  EXPECT_EQ(model::between(prior, own, 1).sd, own.sd);
  EXPECT_EQ(model::between(prior, own, 0).mean, prior.mean);
  EXPECT_EQ(model::between(prior, own, 0).sd, prior.sd);
  const auto mixed = model::between(prior, own, 0.75);
  EXPECT_DOUBLE_EQ(mixed.mean[0], 2.5);
  EXPECT_DOUBLE_EQ(mixed.sd[1], 0.25);
}

TEST(Mixing, LocalEpochsGoOnFromTheMixture) {
  const auto prior = test::small_prior();
  for (const auto map : {config::SdMap::kSoftplus, config::SdMap::kExp}) {
    auto client = test::small_client(2);
    model::LocalOptions options;
    options.training.sd_map = map;
    (void)model::local_update({&client}, prior, options, 3, 0);
    const auto before = client.state;
    model::start_from(client, before.weights, map);  // where it is: nothing changes, to the last bit
    EXPECT_EQ(client.state.raw, before.raw);
    const auto mixed = model::between(prior, before.weights, 0.7);
    model::start_from(client, mixed, map);
    EXPECT_EQ(client.state.weights.mean, mixed.mean);
    EXPECT_EQ(client.state.first_mean, before.first_mean);
    for (std::size_t p = 0; p < mixed.sd.size(); ++p) {
      const double raw = client.state.raw[p];
      EXPECT_NEAR(map == config::SdMap::kExp ? std::exp(raw) : std::log1p(std::exp(raw)), mixed.sd[p], 1e-14);
    }
  }
}

TEST(Priors, EachClientTrainsAndPredictsUnderItsOwn) {
  const auto common = test::small_prior();
  auto moved = common;
  for (double& r : moved.mean) r += 0.3;
  for (double& sd : moved.sd) sd *= 0.5;
  model::Priors priors(common);
  priors.own[2] = moved;
  auto one = test::small_client(1), two = test::small_client(2), one_alone = one, two_alone = two;
  for (int round = 0; round < 2; ++round) {
    (void)model::local_update({&one, &two}, priors, {}, 3, round);
    (void)model::local_update({&one_alone}, common, {}, 3, round);
    (void)model::local_update({&two_alone}, moved, {}, 3, round);
  }
  EXPECT_EQ(test::state_of(one), test::state_of(one_alone));
  EXPECT_EQ(test::state_of(two), test::state_of(two_alone));
  const auto fresh = test::small_client(2);  // never took part: it predicts with its own prior
  const model::ClientPointSets request{&fresh, {&fresh.training}};
  EXPECT_EQ(model::predict({request}, priors, {})[0][0][0].mean, model::predict({request}, moved, {})[0][0][0].mean);
}

TEST(FrozenPrediction, IsThePosteriorsOwnWithoutESteps) {
  const auto prior = test::small_prior();
  std::vector<model::Client> clients;
  for (int id = 0; id < 3; ++id) clients.push_back(test::small_client(id));
  std::vector<model::Client*> pointers;
  for (auto& client : clients) pointers.push_back(&client);
  (void)model::local_update(pointers, prior, {}, 3, 0);
  std::mt19937_64 engine(1);
  std::vector<std::vector<data::Realisation>> held_out(clients.size());
  std::vector<model::ClientPoints> points;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    for (std::size_t i = 0; i < clients[k].training.size(); ++i)
      held_out[k].push_back(test::random_realisation(engine, 3 + 4 * static_cast<int>(i), 9));
    points.push_back({&clients[k], &held_out[k]});
  }
  // Weights without spread: the draws are the weights, so the two draw alike.
  std::vector<model::WeightPosterior> weights;
  for (const auto& client : clients) {
    weights.push_back(client.state.weights);
    for (double& sd : weights.back().sd) sd = 1e-14;
    for (double& r : weights.back().mean) r *= 0.9;
  }
  const model::PredictionOptions options{.samples = 2, .e_steps = 0, .workspace_mb = 128, .seed = 5};
  const model::FrozenPrediction frozen(points, options);
  (void)frozen.under({prior, prior, prior});  // what was asked before leaves nothing behind
  const auto predictions = frozen.under(weights);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    auto client = clients[k];
    client.state.weights = weights[k];
    const auto expected = model::predict({{&client, {&held_out[k]}}}, prior, options)[0][0];
    ASSERT_EQ(predictions[k].size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(predictions[k][i].rate, expected[i].rate);
      ASSERT_EQ(predictions[k][i].expected_intensity.size(), expected[i].expected_intensity.size());
      for (std::size_t j = 0; j < expected[i].expected_intensity.size(); ++j) {
        EXPECT_NEAR(predictions[k][i].expected_intensity[j], expected[i].expected_intensity[j],
                    1e-9 * expected[i].expected_intensity[j]);
        EXPECT_NEAR(predictions[k][i].expected_log_intensity[j], expected[i].expected_log_intensity[j], 1e-9);
      }
    }
    // Alone as in company.
    const auto alone = model::FrozenPrediction({points[k]}, options).under({weights[k]})[0];
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_EQ(alone[i].expected_log_intensity, predictions[k][i].expected_log_intensity);
  }
}

/// Kernels pass over such a realisation; the others keep their bits.
TEST(FrozenPrediction, ARealisationWithoutPointsChangesNothing) {
  const auto prior = test::small_prior();
  auto client = test::small_client(2);
  client.state.weights = prior;
  ASSERT_GE(client.training.size(), 2u);
  std::mt19937_64 engine(1);
  std::vector<data::Realisation> held_out;
  for (std::size_t i = 0; i < client.training.size(); ++i) held_out.push_back(test::random_realisation(engine, 5, 9));
  const model::PredictionOptions options{.samples = 2, .e_steps = 0, .workspace_mb = 128, .seed = 5};
  const std::vector<model::ClientPoints> points{{&client, &held_out}};
  const std::vector<model::WeightPosterior> weights{prior};
  const auto full = model::FrozenPrediction(points, options).under(weights)[0];
  const auto full_predicted = model::predict({{&client, {&held_out}}}, prior, options)[0][0];
  held_out[0].events.clear();
  held_out[0].multiplicities.clear();
  held_out[0].nodes.clear();
  held_out[0].node_weights.clear();
  const auto predicted = model::predict({{&client, {&held_out}}}, prior, options)[0][0];
  const auto some = model::FrozenPrediction(points, options).under(weights)[0];
  EXPECT_TRUE(some[0].expected_intensity.empty());
  for (std::size_t i = 1; i < some.size(); ++i) {
    EXPECT_EQ(some[i].expected_log_intensity, full[i].expected_log_intensity);
    EXPECT_EQ(predicted[i].expected_log_intensity, full_predicted[i].expected_log_intensity);
  }
}

TEST(Embeddings, AreTheEncodersAtGivenPoints) {
  const auto embedding = test::small_encoder();  // width 8: W, b, log r, log l
  data::Realisation probe;
  probe.nodes = {3, 40, 41, 99};
  probe.node_weights.assign(4, 1.0);
  std::vector<std::vector<double>> weights;
  for (int k = 0; k < 5; ++k) {
    weights.emplace_back();
    for (int j = 0; j < 18; ++j) weights.back().push_back(std::sin(1.0 + j * (k + 1)));
  }
  std::vector<const std::vector<double>*> pointers;
  for (const auto& w : weights) pointers.push_back(&w);
  for (const double workspace : {128.0, 1e-9}) {
    const auto h = model::embeddings_at(embedding, pointers, probe, workspace);
    ASSERT_EQ(h.size(), weights.size());
    for (std::size_t k = 0; k < weights.size(); ++k)
      for (std::size_t n = 0; n < probe.nodes.size(); ++n)
        for (std::size_t d = 0; d < 8; ++d)
          EXPECT_NEAR(h[k][n * 8 + d], std::tanh(weights[k][d] * (2 * probe.nodes[n] / 100 - 1) + weights[k][8 + d]),
                      1e-12);
  }
  EXPECT_TRUE(model::embeddings_at(embedding, {}, probe, 128).empty());
}

TEST(FrozenPrediction, OfWeightsThatCannotBeFactorisedIsNotANumber) {
  const auto prior = test::small_prior();
  std::vector<model::Client> clients{test::small_client(1), test::small_client(2)};
  for (auto& client : clients) client.state.weights = prior;
  std::vector<model::ClientPoints> points;
  for (const auto& client : clients) points.push_back({&client, &client.training});
  auto broken = prior;
  broken.mean[prior.mean.size() - 2] = -1000;  // r = 0: K(z,z) is 0, and no number has to be lost
  const auto predictions =
      model::FrozenPrediction(points, {.samples = 2, .workspace_mb = 128, .seed = 5}).under({broken, prior});
  for (const auto& p : predictions[0])
    for (const double x : p.expected_intensity) EXPECT_TRUE(std::isnan(x));
  for (const auto& p : predictions[1])
    for (const double x : p.expected_intensity) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace
