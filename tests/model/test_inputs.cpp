#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "config/keys.hpp"
#include "config/options.hpp"
#include "model/client.hpp"

using namespace fedpp;

TEST(Inputs, are_those_of_the_page_on_encoders) {
  config::Model options;
  options.periods = {5.0};
  data::Clock clock;
  clock.elapsed = false;
  clock.origin = 12;
  clock.scale = 2;
  const data::GapScale gaps{-1, 0.5};
  const double t = 30, gap = 0.7, file = 12 + t / 2, angle = 2 * std::numbers::pi * file / 5;
  for (const std::string name :
       {"rbf", "deep-kernel", "lstm", "attention", "decay", "lstm without time", "attention without time"}) {
    options.encoder = *config::from_word<config::Encoder>(name.substr(0, name.find(' ')));
    options.time_input = config::reads_types(options) && config::word(options.encoder) == name;
    const model::Inputs inputs(options, clock, gaps);
    std::vector<double> wanted;
    if (name == "rbf") {
      wanted = {t};
    } else {
      if (name == "decay") wanted.push_back(t / std::exp(-1));
      if (config::reads_history(options)) wanted.push_back((std::log(gap + std::exp(-2.5)) + 1) / 0.5);
      if (name == "deep-kernel" || options.time_input) wanted.push_back(2 * t / 100 - 1);
      wanted.insert(wanted.end(), {std::sin(angle), std::cos(angle)});
      for (int k = 0; k < 3 && name == "attention"; ++k)  // with the time only
        wanted.insert(wanted.end(), {std::sin(2 * std::numbers::pi * t / 100 * (1 << k)),
                                     std::cos(2 * std::numbers::pi * t / 100 * (1 << k))});
    }
    std::vector<double> x(inputs.count());
    ASSERT_EQ(x.size(), wanted.size()) << name;
    inputs.at(t, gap, x.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], wanted[i], 1e-12) << name << " " << i;
  }
}

TEST(Inputs, every_registered_encoder_is_an_option_and_the_other_way_round) {
  config::Config options;
  for (const auto* family : gpu::encoder_families()) {
    options.model.encoder = config::from_word<config::Encoder>(family->name()).value();
    EXPECT_EQ(config::reads_history(options.model), family->reads_history());
    EXPECT_EQ(model::make_embedding(options.model, {}).encoder.parameters,
              family->weights(model::make_embedding(options.model, {}).encoder) + 2);
    for (const auto& section : config::sections(options))
      for (const auto& key : section.keys)
        if (key.full_name() == "model.encoder") {
          EXPECT_EQ(key.fault(), "");
        }
  }
}

TEST(InducingPoints, of_a_history_lie_equally_spaced_along_the_streams_end_to_end) {
  data::Realisation r;
  r.streams = {{0, {0, 4, 9}, {0, 0, 0}}, {0, {0, 1}, {0, 0}}};
  for (int q = 0; q < 90; ++q) {  // 9 units of the first stream, 1 of the second
    r.nodes.push_back(0.05 + 0.1 * q);
    r.node_history.push_back({0, r.nodes.back() < 4 ? 1 : 2});
    r.node_weights.push_back(0.1);
  }
  for (int q = 0; q < 10; ++q) {
    r.nodes.push_back(0.05 + 0.1 * q);
    r.node_history.push_back({1, 1});
    r.node_weights.push_back(0.1);
  }
  const auto z = model::inducing_points(r, 10);
  for (int j = 0; j < 10; ++j) {
    EXPECT_EQ(z.histories[j].stream, j < 9 ? 0 : 1);
    EXPECT_NEAR(z.times[j], j < 9 ? j + 0.5 : 0.5, 0.1001);
    EXPECT_EQ(z.histories[j].before, j < 9 && z.times[j] >= 4 ? 2 : 1);
  }
}

TEST(InitialPrior, of_a_history_encoder_is_in_units_of_its_start) {
  config::Model options;
  options.encoder = config::Encoder::kLstm;
  options.width = 4;
  options.prior_sd = 0.2;
  const auto embedding = model::make_embedding(options, {});
  const auto start = gpu::encoder_family(gpu::EncoderKind::kLstm).start(embedding.encoder);
  const auto prior = model::initial_prior(options, embedding, 3);
  for (int j = 0; j < embedding.encoder.weights; ++j) {
    EXPECT_EQ(prior.sd[j], 0.2 * start.sd[j]);
    EXPECT_LT(std::fabs(prior.mean[j] - start.mean[j]), 5 * start.sd[j]);
  }
  EXPECT_TRUE(std::isfinite(prior.mean.back()));
}

TEST(InitialPrior, of_a_linear_mean_has_flat_slopes_before_the_kernels_parameters) {
  config::Model options;
  options.encoder = config::Encoder::kDeepKernel;
  options.width = 4;
  options.prior_sd = 0.7;
  options.mean_sd = 0.2;
  const auto constant = model::initial_prior(options, model::make_embedding(options, {}), 3);
  options.mean = config::PriorMean::kLinear;
  const auto linear = model::initial_prior(options, model::make_embedding(options, {}), 3);
  auto with_slopes = constant.mean;
  with_slopes.insert(with_slopes.end() - 2, 4, 0.0);
  EXPECT_EQ(linear.mean, with_slopes);
  EXPECT_EQ(std::vector<double>(linear.sd.end() - 6, linear.sd.end() - 2),
            std::vector<double>(4, 0.2 / 2));  // by root of D = 4
}

TEST(InitialPrior, a_linear_mean_is_as_uncertain_for_any_number_of_slopes) {
  config::Model options;
  options.mean = config::PriorMean::kLinear;
  options.prior_sd = 0.7;
  options.mean_sd = 0.2;
  using config::Encoder;
  for (const auto encoder : {Encoder::kDeepKernel, Encoder::kLstm, Encoder::kAttention, Encoder::kDecay})
    for (const int width : {4, 32}) {
      options.encoder = encoder;
      options.width = width;
      const auto embedding = model::make_embedding(options, {});
      const auto prior = model::initial_prior(options, embedding, 3);
      const std::size_t weights = embedding.encoder.weights, slopes = prior.mean.size() - weights - 2;
      EXPECT_EQ(slopes, static_cast<std::size_t>(embedding.encoder.dimension));
      double variance = 0;  // of a'h where every entry of h is 1 or -1
      for (std::size_t j = weights; j < weights + slopes; ++j) {
        EXPECT_EQ(prior.mean[j], 0) << config::word(encoder);
        variance += prior.sd[j] * prior.sd[j];
      }
      EXPECT_NEAR(std::sqrt(variance), 0.2, 1e-12) << config::word(encoder) << " " << width;
      EXPECT_EQ(prior.sd.back(), 0.7) << config::word(encoder);
    }
}
