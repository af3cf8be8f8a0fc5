// What a local update leaves of Adam's state, what it reports of factorisations, and which results it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/local_epoch.hpp"
#include "model/mixing.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::LocalOptions;

LocalOptions one_epoch() {
  LocalOptions options;
  options.training.epochs = 1;
  return options;
}

std::string failure_of(Client client, const LocalOptions& options, const model::WeightPosterior& prior) {
  return model::local_update({&client}, prior, options, 11, 0)[0].failure.value_or("");
}

/// After the first step they are (1 - beta1) g and (1 - beta2) g^2.
TEST(UpdatedStates, hold_adams_moments_of_means_and_of_sds) {
  auto options = one_epoch();
  options.training.beta1 = 0.8;
  options.training.beta2 = 0.97;
  std::vector<Client> clients{test::small_client(1), test::small_client(2)};
  (void)model::local_update({&clients[0], &clients[1]}, test::small_prior(), options, 11, 0);
  for (const auto& client : clients) {
    const auto& state = client.state;
    EXPECT_EQ(state.steps, 1);
    EXPECT_NE(state.first_mean, state.first_raw);
    for (std::size_t j = 0; j < state.raw.size(); ++j) {
      const double g = state.first_mean[j] / 0.2, of_raw = state.first_raw[j] / 0.2;
      EXPECT_NEAR(state.second_mean[j], 0.03 * g * g, 1e-12 * g * g) << j;
      EXPECT_NEAR(state.second_raw[j], 0.03 * of_raw * of_raw, 1e-12 * of_raw * of_raw) << j;
    }
  }
}

/// A client whose inducing points, in one of its lists, are nearly the same: its K(z,z) needs more jitter.
TEST(UpdatedStates, report_the_largest_jitter_of_a_clients_own_lists) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kRbf);
  const auto prior = model::initial_prior({}, encoder, 5);
  std::mt19937_64 engine(2);
  auto options = one_epoch();
  options.jitter = 1e-18;
  options.training.samples = 2;
  const auto client = [&](int id, int hard) {
    std::vector<data::Realisation> lists;
    for (int i = 0; i < 3; ++i) lists.push_back(test::random_realisation(engine, 8, 12));
    auto made = model::make_client(id, encoder, lists, 4, 1.0);
    if (hard >= 0)
      for (std::size_t j = 0; j < made.inducing[hard].times.size(); ++j)
        made.inducing[hard].times[j] = 50 + 1e-9 * static_cast<double>(j);
    return made;
  };
  std::vector<Client> clients{client(0, 2), client(1, -1), client(2, 0), client(3, -1), client(4, 1)};
  std::vector<Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  const auto reports = model::local_update(pointers, prior, options, 11, 0);
  for (const std::size_t k : {0, 2, 4}) EXPECT_GT(reports[k].jitter, 5 * options.jitter) << k;
  for (const std::size_t k : {1, 3}) EXPECT_EQ(reports[k].jitter, options.jitter) << k;
}

TEST(UpdatedStates, name_the_list_and_pivot_where_a_factorisation_fails) {
  std::vector<Client> clients{test::small_client(3), test::small_client(1)};
  const auto prior = test::small_prior();
  auto& client = clients[1];
  model::restart_from(client, prior, config::SdMap::kSoftplus);
  client.state.weights.mean[prior.mean.size() - 2] = -1000;  // r = 0: already the first pivot is 0
  const auto text = model::local_update({&clients[0], &client}, prior, one_epoch(), 11, 0)[1].failure.value_or("");
  EXPECT_EQ(text.find("realisation 0, sample 0: "), 0u) << text;
  EXPECT_NE(text.find("fails at pivot 0 (0)"), std::string::npos) << text;
}

/// Softplus of a number far below zero is zero.
TEST(UpdatedStates, an_sd_of_zero_is_a_failure) {
  auto options = one_epoch();
  options.training.learning_rate = 1e5;
  const auto text = failure_of(test::small_client(1), options, test::small_prior());
  EXPECT_NE(text.find("the posterior of weight"), std::string::npos) << text;
  EXPECT_NE(text.find(", 0^2)"), std::string::npos) << text;
}

/// The weights that the last step of an epoch of so many has drawn, and how many of the client's lists are in its
/// mini-batch; Adam's rates are zero.
std::pair<std::vector<double>, int> last_step(const Client& client, int steps) {
  const auto prior = test::small_prior();
  const std::vector<model::ClientPoints> points{{&client, &client.training}};
  const model::ClientBatch block(points, {prior}, {.samples = 2, .jitter = 1e-6, .with_gradient = true});
  const auto adam = gpu::make_adam_state(block.batch());
  std::vector<double> raw;
  for (const double sd : prior.sd) raw.push_back(std::log(sd));
  gpu::copy_to(adam.raw, raw);
  gpu::copy_to(adam.prior_mean, prior.mean);
  gpu::copy_to(adam.prior_sd, prior.sd);
  Kokkos::deep_copy(adam.learning_rate, 0.0);
  const gpu::Exec exec;
  model::local_epoch(exec, {block, adam, {.sd_map = gpu::SdMap::kExp}, {steps, 1, 1}}, {3, 0, 0, 0});
  exec.fence();
  std::vector<double> weights, scale;
  gpu::to_host(block.fields().weights, weights);
  gpu::to_host(block.fields().tile_scale, scale);
  const auto in_it = std::count_if(scale.begin(), scale.end(), [](double s) { return s != 0; });
  return {weights, static_cast<int>(in_it)};
}

TEST(LocalEpoch, every_step_after_the_first_has_draws_and_a_mini_batch_of_its_own) {
  std::mt19937_64 engine(2);
  const Client client = model::make_client(
      2, test::small_encoder(), {test::random_realisation(engine, 8, 12), test::random_realisation(engine, 9, 12)}, 6,
      1.0);  // of a tile each
  const auto [first, all] = last_step(client, 1);
  const auto [second, some] = last_step(client, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(all, 2);
  EXPECT_EQ(some, 1);
}

/// One step along g goes by rate x g / (|g| + epsilon), of means and, through the map, of sds.
TEST(UpdatedStates, have_gone_a_step_of_adam_with_its_epsilon_and_map) {
  const auto prior = test::small_prior();
  for (const auto map : {config::SdMap::kSoftplus, config::SdMap::kExp}) {
    auto options = one_epoch();
    options.training.epsilon = 5;
    options.training.learning_rate = options.training.learning_rate_kernel = 0.1;
    options.training.sd_map = map;
    Client client = test::small_client(2);
    (void)model::local_update({&client}, prior, options, 11, 0);
    const auto& state = client.state;
    const auto gone = [&](double moment) {
      const double g = moment / (1 - options.training.beta1);
      return 0.1 * g / (std::fabs(g) + 5);
    };
    for (std::size_t j = 0; j < prior.mean.size(); ++j) {
      EXPECT_NEAR(state.weights.mean[j] - prior.mean[j], gone(state.first_mean[j]), 1e-12) << j;
      const double raw = state.raw[j], before = prior.sd[j];
      const bool exp = map == config::SdMap::kExp;
      EXPECT_NEAR(raw - (exp ? std::log(before) : std::log(std::expm1(before))), gone(state.first_raw[j]), 1e-12) << j;
      EXPECT_NEAR(state.weights.sd[j], exp ? std::exp(raw) : std::log1p(std::exp(raw)), 1e-12) << j;
    }
  }
}

/// Of the posterior before the epoch's step, by the formula that goes with the barycentre.
TEST(LocalReports, have_the_weighted_divergence_of_the_barycentre) {
  const auto prior = test::small_prior();
  Client started = test::small_client(2);
  auto own = prior;
  for (std::size_t j = 0; j < own.mean.size(); ++j) {
    own.mean[j] += 0.1 * std::sin(1.0 + static_cast<double>(j));
    own.sd[j] *= 0.7;
  }
  model::restart_from(started, own, config::SdMap::kSoftplus);
  config::Config config;
  config.training.epochs = 1;
  config.training.prior_weight = 1.7;
  const double d = 0.3;
  const auto formula = [&](config::Divergence rule, double r, double delta, double mu, double sigma) {
    const double u = r - mu, v = d * d + 2 * delta * delta + 2 * sigma * sigma;
    if (rule == config::Divergence::kW2) return u * u + (sigma - delta) * (sigma - delta);
    if (rule == config::Divergence::kMmd)
      return d / std::sqrt(d * d + 4 * sigma * sigma) + d / std::sqrt(d * d + 4 * delta * delta) -
             2 * d * std::exp(-u * u / v) / std::sqrt(v);
    return 0.5 * ((u * u + delta * delta) / (sigma * sigma) - 2 * std::log(delta / sigma) - 1);
  };
  using config::Divergence;
  for (const auto rule : {Divergence::kKl, Divergence::kW2, Divergence::kMmd, Divergence::kFedavg}) {
    config.aggregation.divergence = rule;
    auto options = model::local_options(config);
    options.bandwidth = d;
    double wanted = 0;
    for (std::size_t j = 0; j < own.mean.size(); ++j)
      wanted += 1.7 * formula(rule, own.mean[j], own.sd[j], prior.mean[j], prior.sd[j]);
    Client client = started;
    EXPECT_NEAR(model::local_update({&client}, prior, options, 11, 0)[0].divergence / wanted, 1, 1e-9)
        << config::word(rule);
  }
}

TEST(BatchOptions, spread_points_over_tiles_where_mini_batches_take_tiles) {
  LocalOptions options;
  EXPECT_FALSE(model::batch_options(options).spread);
  options.training.batch_points = 0.5;
  EXPECT_TRUE(model::batch_options(options).spread);
}

}  // namespace
