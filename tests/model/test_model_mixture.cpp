// A local update through a mixture of models (src/model/local_update.hpp, ModelMixture).
#include <gtest/gtest.h>

#include <cmath>

#include "model/clients.hpp"
#include "model/loss_gradient.hpp"
#include "model/model_mixture.hpp"

namespace {
using namespace fedpp;

TEST(ModelMixture, shares_go_down_the_loss_per_event_and_the_mixture_is_of_what_was_learned) {
  // Sds so small that no draw matters; the loss's differences then say where each share goes.
  constexpr int kModels = 3, kOwn = 1;
  std::vector<model::WeightPosterior> models;
  for (int c = 0; c < kModels; ++c) {
    models.push_back(test::small_prior());
    for (std::size_t p = 0; p < models[c].mean.size(); ++p)
      models[c].mean[p] += 0.1 * std::sin(static_cast<double>(p) + c);
    for (double& sd : models[c].sd) sd = 1e-8;
  }
  auto client = test::small_client(kOwn);
  double events = 0;
  for (const auto& r : client.training) events += static_cast<double>(r.events.size());
  const std::vector<double> anchor{0.2, 0.3, 0.5}, shares{0.3, 0.4, 0.3};
  const auto mixed = [&](const std::vector<double>& p, const model::WeightPosterior& own) {
    model::WeightPosterior mixture{std::vector<double>(own.mean.size(), 0.0), std::vector<double>(own.sd.size(), 0.0)};
    for (int c = 0; c < kModels; ++c)
      for (std::size_t j = 0; j < own.mean.size(); ++j) {
        mixture.mean[j] += p[c] * (c == kOwn ? own : models[c]).mean[j];
        mixture.sd[j] += p[c] * (c == kOwn ? own : models[c]).sd[j];
      }
    return mixture;
  };
  auto& state = client.state;
  state.weights = state.core = models[kOwn];
  state.raw.assign(models[kOwn].sd.size(), std::log(1e-8));
  for (auto* moments : {&state.first_mean, &state.second_mean, &state.first_raw, &state.second_raw})
    moments->assign(state.raw.size(), 0.0);
  state.started = true;
  state.mixing = shares;
  model::LocalOptions options;
  options.training.epochs = 1;
  options.training.sd_map = config::SdMap::kExp;
  options.training.prior_weight = 0;

  model::LossGradient loss({&client}, options);
  const auto loss_at = [&](const std::vector<double>& p, int e_steps) {
    return loss.at({mixed(p, models[kOwn])}, 5, 0, e_steps)[0].value;
  };
  (void)loss_at(shares, 1);  // the epoch's E-step
  const double rate = 1e-3, penalty = 0.7;
  std::vector<double> slopes;
  for (int c = 0; c < kModels; ++c) {
    auto more = shares, less = shares;
    more[c] += 1e-5;
    less[c] -= 1e-5;
    slopes.push_back((loss_at(more, 0) - loss_at(less, 0)) / 2e-5 / events + penalty * (shares[c] - anchor[c]));
  }
  auto wanted = shares;
  for (int c = 0; c < kModels; ++c) wanted[c] -= rate * (slopes[c] - (slopes[0] + slopes[1] + slopes[2]) / kModels);

  auto trained = client;
  const model::ModelMixture mixture{models, anchor, rate, penalty};
  const auto report = model::local_update({&trained}, models[kOwn], options, 5, 0, {.mixture = &mixture})[0];
  EXPECT_FALSE(report.failure.has_value());
  for (int c = 0; c < kModels; ++c) {
    EXPECT_NEAR(trained.state.mixing[c] - shares[c], wanted[c] - shares[c], 1e-4 * std::fabs(wanted[c] - shares[c]));
    EXPECT_GT(std::fabs(wanted[c] - shares[c]), 1e-5);
  }
  EXPECT_NE(trained.state.core.mean, models[kOwn].mean);
  const auto personal = mixed(trained.state.mixing, trained.state.core);
  for (std::size_t j = 0; j < personal.mean.size(); ++j) {
    EXPECT_NEAR(trained.state.weights.mean[j], personal.mean[j], 1e-12);
    EXPECT_NEAR(trained.state.weights.sd[j], personal.sd[j], 1e-12);
    EXPECT_NEAR(std::exp(trained.state.raw[j]), trained.state.core.sd[j], 1e-12);  // Adam's state is the core's
  }
}

/// As many events as its m has at least: else a step per event would be without bounds.
TEST(ModelMixture, shares_of_a_client_without_events_go_by_half_an_event) {
  const auto prior = test::small_prior();
  auto moved = prior;
  for (double& r : moved.mean) r += 0.1;
  std::mt19937_64 engine(3);
  auto client = model::make_client(0, test::small_encoder(), {test::random_realisation(engine, 0, 60)}, 6, 1.0);
  auto& state = client.state;
  state.weights = state.core = prior;
  for (const double sd : prior.sd) state.raw.push_back(std::log(sd));
  for (auto* moments : {&state.first_mean, &state.second_mean, &state.first_raw, &state.second_raw})
    moments->assign(state.raw.size(), 0.0);
  state.started = true;
  state.mixing = {0.5, 0.5};
  model::LocalOptions options;
  options.training.epochs = 1;
  options.training.sd_map = config::SdMap::kExp;
  const model::ModelMixture mixture{{prior, moved}, {0.5, 0.5}, 1e-3, 0.1};
  EXPECT_FALSE(model::local_update({&client}, prior, options, 5, 0, {.mixture = &mixture})[0].failure.has_value());
  EXPECT_NE(state.mixing[0], 0.5);
  for (const double share : state.mixing) EXPECT_NEAR(share, 0.5, 0.5);
}

}  // namespace
