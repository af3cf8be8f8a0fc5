// The loss at a posterior of the weights and its gradient (src/model/loss_gradient.hpp).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "model/clients.hpp"
#include "model/loss_gradient.hpp"

namespace {
using namespace fedpp;

model::LocalOptions loss_options() {
  model::LocalOptions options;
  options.training.samples = 3;
  return options;
}

/// Clients after a round, so that q(v), m and nu are those of other weights.
std::vector<model::Client> trained(const std::vector<int>& ids, gpu::EncoderKind kind,
                                   config::PriorMean mean = config::PriorMean::kConstant) {
  std::vector<model::Client> clients;
  for (const int id : ids)
    clients.push_back(kind == gpu::EncoderKind::kDeepKernel ? test::small_client(id, kind)
                                                            : test::history_client(id, kind, mean));
  config::Model model;
  std::vector<model::Client*> participants;
  for (auto& client : clients) participants.push_back(&client);
  const auto prior = model::initial_prior(model, clients[0].embedding, 5);
  for (const auto& report : model::local_update(participants, prior, loss_options(), 5, 0))
    EXPECT_FALSE(report.failure.has_value());
  return clients;
}

std::vector<const model::Client*> pointers(const std::vector<model::Client>& clients) {
  std::vector<const model::Client*> all;
  for (const auto& client : clients) all.push_back(&client);
  return all;
}

/// Away from the client's own.
model::WeightPosterior elsewhere(const model::Client& client) {
  auto weights = client.state.weights;
  for (std::size_t p = 0; p < weights.mean.size(); ++p) {
    weights.mean[p] += 0.03 * std::sin(1.0 + static_cast<double>(p));
    weights.sd[p] *= 0.3;
  }
  return weights;
}

class LossGradients : public testing::TestWithParam<std::pair<gpu::EncoderKind, config::PriorMean>> {};

TEST_P(LossGradients, are_the_differences_of_the_loss_under_the_same_draws) {
  const auto clients = trained({1, 2}, GetParam().first, GetParam().second);
  model::LossGradient loss(pointers(clients), loss_options());
  std::vector<model::WeightPosterior> weights;
  for (const auto& client : clients) weights.push_back(elsewhere(client));
  const auto here = loss.at(weights, 7, 3);  // the E-step
  const auto held = loss.at(weights, 7, 3, 0);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    EXPECT_DOUBLE_EQ(here[k].value, held[k].value);
    const std::size_t p = weights[k].mean.size();
    for (const std::size_t j : {std::size_t{0}, p / 3, p / 2, p - 3, p - 2, p - 1})  // p - 3: a slope of a linear mean
      for (const bool of_sd : {false, true}) {
        const auto moved = [&](double by) {
          auto others = weights;
          (of_sd ? others[k].sd : others[k].mean)[j] += by;
          return loss.at(others, 7, 3, 0)[k].value;
        };
        const double step = 1e-4 * (of_sd ? weights[k].sd[j] : 1.0);
        const double wanted = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
        const double got = of_sd ? here[k].by_sd[j] : here[k].by_mean[j];
        EXPECT_NEAR(got, wanted, 1e-5 * std::max(1.0, std::fabs(wanted)))
            << "client " << k << ", weight " << j << (of_sd ? ", sd" : ", mean");
      }
  }
}

INSTANTIATE_TEST_SUITE_P(encoders, LossGradients,
                         testing::Values(std::pair{gpu::EncoderKind::kDeepKernel, config::PriorMean::kConstant},
                                         std::pair{gpu::EncoderKind::kLstm, config::PriorMean::kLinear}));

TEST(Loss, is_the_negative_elbo_that_an_epoch_reports_up_to_its_draws) {
  const auto clients = trained({2}, gpu::EncoderKind::kDeepKernel);
  auto sharp = clients[0].state.weights;
  for (double& sd : sharp.sd) sd = 1e-9;  // so that no draw matters
  auto training = loss_options();
  training.training.epochs = 1;
  training.training.prior_weight = 0;
  auto trained_on = clients[0];
  trained_on.state.weights = sharp;
  const double elbo = model::local_update({&trained_on}, sharp, training, 5, 1)[0].elbo;
  EXPECT_NEAR(model::LossGradient(pointers(clients), loss_options()).at({sharp}, 5, 1)[0].value, -elbo,
              1e-6 * std::fabs(elbo));
}

TEST(Loss, does_not_depend_on_company_nor_on_former_calls_and_leaves_the_client_as_it_is) {
  const auto clients = trained({0, 1, 2}, gpu::EncoderKind::kDeepKernel);
  const auto before = test::state_of(clients[1]);
  std::vector<model::WeightPosterior> weights;
  for (const auto& client : clients) weights.push_back(elsewhere(client));
  const auto together = model::LossGradient(pointers(clients), loss_options()).at(weights, 7, 3);
  model::LossGradient alone({&clients[1]}, loss_options());
  const auto one = alone.at({weights[1]}, 7, 3);
  EXPECT_EQ(together[1].value, one[0].value);
  EXPECT_EQ(together[1].by_mean, one[0].by_mean);
  EXPECT_EQ(together[1].by_sd, one[0].by_sd);
  EXPECT_EQ(test::state_of(clients[1]), before);
  EXPECT_EQ(alone.at({weights[1]}, 7, 3, 0)[0].value, alone.at({weights[1]}, 7, 3, 0)[0].value);
  EXPECT_NE(alone.at({weights[1]}, 7, 4, 0)[0].value, alone.at({weights[1]}, 7, 3, 0)[0].value);
}

TEST(Loss, falls_along_its_gradient) {
  const auto clients = trained({1, 3}, gpu::EncoderKind::kDeepKernel);
  model::LossGradient loss(pointers(clients), loss_options());
  std::vector<model::WeightPosterior> weights;
  for (const auto& client : clients) weights.push_back(elsewhere(client));
  const auto here = loss.at(weights, 7, 3);
  for (std::size_t k = 0; k < clients.size(); ++k) {
    double square = 0;
    for (const double g : here[k].by_mean) square += g * g;
    for (std::size_t p = 0; p < weights[k].mean.size(); ++p)
      weights[k].mean[p] -= 1e-3 / std::sqrt(square) * here[k].by_mean[p];
  }
  const auto there = loss.at(weights, 7, 3, 0);
  for (std::size_t k = 0; k < clients.size(); ++k) EXPECT_LT(there[k].value, here[k].value);
}

TEST(Loss, of_weights_that_cannot_be_factorised_is_not_a_number) {
  const auto clients = trained({1, 2}, gpu::EncoderKind::kDeepKernel);
  for (const bool finite : {false, true}) {
    std::vector<model::WeightPosterior> weights{clients[0].state.weights, clients[1].state.weights};
    if (finite)
      weights[0].mean[weights[0].mean.size() - 2] = -1000;  // r = 0: K(z,z) is 0, and no number has to be lost
    else
      weights[0].mean[0] = std::nan("");
    model::LossGradient loss(pointers(clients), loss_options());
    const auto losses = loss.at(weights, 7, 3);
    EXPECT_TRUE(std::isnan(losses[0].value)) << finite;
    EXPECT_TRUE(std::isfinite(losses[1].value)) << finite;
    model::LossGradient again(pointers(clients), loss_options());
    (void)again.at(weights, 7, 3, 0);
    weights[0] = clients[0].state.weights;  // a failure says nothing of those asked for afterwards
    EXPECT_TRUE(std::isfinite(again.at(weights, 7, 3, 0)[0].value)) << finite;
  }
}

TEST(Loss, is_of_other_draws_than_an_epochs) {
  const auto clients = trained({2}, gpu::EncoderKind::kDeepKernel);
  auto options = loss_options();
  options.training.epochs = 1;
  options.training.prior_weight = 0;
  const auto weights = clients[0].state.weights;
  auto trained_on = clients[0];
  const auto report = model::local_update({&trained_on}, weights, options, 5, 1)[0];
  const double elbo = report.elbo + report.divergence;
  const double loss = model::LossGradient(pointers(clients), options).at({weights}, 5, 1)[0].value;
  EXPECT_GT(std::fabs(loss + elbo), 1e-6 * std::fabs(elbo));
}

}  // namespace
