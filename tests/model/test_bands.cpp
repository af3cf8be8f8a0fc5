// Bands of predictions: what is not known of nu, m and v, against plain solves and where it has to be so.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "gpu/cases.hpp"
#include "model/clients.hpp"
#include "model/prediction.hpp"
#include "model/simulated.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::PredictionOptions;
using reference::Vector;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The band's variances against a plain solve of the joint precision of (nu, log m, v): the priors'
/// diag(2^-2, 10^-2, I) + sum omega lambda g g', g = ((1 - sigma), 1, (1 - sigma) V).
/// Slopes of a linear prior mean are weights, known here: they move the mean and stay out of the directions.
class Bands : public testing::TestWithParam<config::PriorMean> {};

TEST_P(Bands, take_the_expected_information_of_the_data_with_nu_and_m_unknown) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kRbf, GetParam());
  const int m = 6;
  const double lengthscale = 20, variance = 1.5, jitter = 1e-6;
  const Client client = model::make_client(0, encoder, {test::simulated(7)}, m, 1.0);
  model::WeightPosterior prior{{std::log(variance), std::log(lengthscale)}, {1e-12, 1e-12}};
  if (GetParam() == config::PriorMean::kLinear) {
    prior.mean.insert(prior.mean.begin(), 0.03);
    prior.sd.insert(prior.sd.begin(), 1e-12);
  }
  PredictionOptions options;
  options.jitter = jitter;
  options.samples = 1;
  options.e_steps = 15;
  const auto predict = [&](bool bands) {
    options.bands = bands;
    return model::predict({{&client, {&client.training}}}, prior, options)[0][0][0];
  };
  const auto narrow = predict(false), wide = predict(true);
  EXPECT_TRUE(narrow.level_variance.empty());

  // V at the columns, events first.
  const auto& r = client.training[0];
  std::vector<double> time = r.events;
  time.insert(time.end(), r.nodes.begin(), r.nodes.end());
  reference::Matrix k(m, time.size()), kzz(m, m);
  const auto& z = client.inducing[0].times;
  const auto kappa = [&](double a, double b) {
    return variance * std::exp(-(a - b) * (a - b) / (2 * lengthscale * lengthscale));
  };
  for (int i = 0; i < m; ++i) {
    for (std::size_t n = 0; n < time.size(); ++n) k(i, n) = kappa(z[i], time[n]);
    for (int j = 0; j < m; ++j) kzz(i, j) = kappa(z[i], z[j]) + (i == j ? jitter * variance : 0);
  }
  const auto v = reference::forward_substitution(reference::cholesky(kzz), k);
  const auto gradient = [&](std::size_t n) {
    reference::Matrix g(m + 2, 1);
    const double slope = 1 - sigmoid(wide.mean[n]);
    g(0, 0) = slope;
    g(1, 0) = 1;
    for (int i = 0; i < m; ++i) g(2 + i, 0) = slope * v(i, n);
    return g;
  };
  const auto precisions = [&](double rate) {  // of all, and of v given nu and m
    std::pair both{reference::Matrix(m + 2, m + 2), reference::Matrix(m, m)};
    auto& [joint, given] = both;
    joint(0, 0) = 0.25;
    joint(1, 1) = 0.01;
    for (int i = 0; i < m; ++i) joint(2 + i, 2 + i) = given(i, i) = 1;
    for (std::size_t q = 0; q < r.nodes.size(); ++q) {
      const std::size_t n = r.events.size() + q;
      const double count = r.node_weights[q] * rate * sigmoid(wide.mean[n]);
      const auto g = gradient(n);
      for (int i = 0; i < m + 2; ++i)
        for (int j = 0; j < m + 2; ++j) joint(i, j) += count * g(i, 0) * g(j, 0);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) given(i, j) += count * g(2 + i, 0) * g(2 + j, 0);
    }
    return both;
  };
  const auto along = [](const reference::Matrix& precision, const reference::Matrix& x) {  // x' precision^-1 x
    const auto solved = reference::solve(precision, x);
    double sum = 0;
    for (std::size_t i = 0; i < x.rows; ++i) sum += x(i, 0) * solved(i, 0);
    return sum;
  };
  const auto column = [&](std::size_t n) {
    reference::Matrix vn(m, 1);
    for (int i = 0; i < m; ++i) vn(i, 0) = v(i, n);
    return vn;
  };
  const auto residual_of = [&](const reference::Matrix& vn) {
    double residual = variance;
    for (int i = 0; i < m; ++i) residual -= vn(i, 0) * vn(i, 0);
    return residual;
  };
  // The m that counts is the E-steps', which the prediction's stands close to: as the variance at the first point says.
  double less = 0.9 * wide.rate, more = 1.1 * wide.rate;
  for (int step = 0; step < 60; ++step) {
    const double rate = (less + more) / 2;
    const bool wider = residual_of(column(0)) + along(precisions(rate).second, column(0)) > wide.variance[0];
    (wider ? less : more) = rate;
  }
  EXPECT_NEAR(less / wide.rate, 1, 0.05);
  const auto [joint, given] = precisions(less);
  for (std::size_t n = 0; n < time.size(); n += 37) {
    const auto g = gradient(n);
    const double slope = g(0, 0);
    const auto vn = column(n);
    const double residual = residual_of(vn), by_v = along(given, vn);
    EXPECT_NEAR(wide.variance[n] / (residual + by_v), 1, 1e-8) << n;
    EXPECT_NEAR(wide.level_variance[n] / (along(joint, g) - slope * slope * by_v), 1, 1e-7) << n;
    EXPECT_GT(wide.variance[n], narrow.variance[n]);
  }

  // The weights are known: another number of samples of them says the same, sample by sample.
  options.samples = 3;
  const auto thrice = predict(true);
  for (std::size_t j = 0; j < thrice.mean.size(); ++j) {
    const std::size_t n = j % time.size();
    EXPECT_NEAR(thrice.mean[j], wide.mean[n], 1e-8 * (1 + std::fabs(wide.mean[n]))) << j;
    EXPECT_NEAR(thrice.variance[j] / wide.variance[n], 1, 1e-8) << j;
    EXPECT_NEAR(thrice.level_variance[j] / wide.level_variance[n], 1, 1e-8) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(means, Bands, testing::Values(config::PriorMean::kConstant, config::PriorMean::kLinear),
                         [](const auto& info) { return std::string(config::word(info.param)); });

/// The second unit of the embedding is 1 everywhere: a slope on it moves f by a constant, which nu takes back.
TEST(Predict, bands_do_not_depend_on_a_constant_that_a_linear_mean_adds) {
  config::Model model;
  model.encoder = config::Encoder::kDeepKernel;
  model.width = 2;
  model.mean = config::PriorMean::kLinear;
  const auto encoder = model::make_embedding(model, {});
  const Client client = model::make_client(0, encoder, {test::simulated(7)}, 6, 1.0);
  PredictionOptions options;
  options.samples = 1;
  options.e_steps = 50;
  options.bands = true;
  const auto predict = [&](double constant) {
    Client from = client;
    from.state.offset = -constant;  // E-steps then take the same way: what they still lack is no difference
    const model::WeightPosterior prior{{2, 0, 0.3, 40, 0.5, constant, std::log(1.5), std::log(0.5)},
                                       std::vector<double>(8, 1e-12)};
    return model::predict({{&from, {&from.training}}}, prior, options)[0][0][0];
  };
  const auto without = predict(0), with = predict(5);
  for (std::size_t n = 0; n < without.mean.size(); n += 11) {
    EXPECT_NEAR(with.mean[n], without.mean[n], 1e-6) << n;
    EXPECT_NEAR(with.variance[n], without.variance[n], 1e-6) << n;
    EXPECT_NEAR(with.level_variance[n], without.level_variance[n], 1e-6) << n;
  }
}

/// Evenly spaced events: without a prior nu runs away, sigma(f) is 1 everywhere and the band that of a constant rate,
/// of log-width 2 * 1.645 / sqrt(25) = 0.66, though m sigma(f) with the same prior of f may well vary.
TEST(Predict, bands_of_a_few_even_events_do_not_claim_a_constant) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kRbf);
  std::mt19937_64 engine(1);
  auto even = test::random_realisation(engine, 25, 200);
  for (std::size_t i = 0; i < 25; ++i) even.events[i] = 4 * static_cast<double>(i) + 2;
  const Client client = model::make_client(0, encoder, {even}, 30, 1.0);
  const model::WeightPosterior prior{{std::log(1.5), std::log(10.0)}, {1e-12, 1e-12}};
  PredictionOptions options;
  options.samples = 1;
  options.e_steps = 200;
  const auto ran_away = model::predict({{&client, {&client.training}}}, prior, options)[0][0][0];
  EXPECT_GT(ran_away.mean[100], 3);
  options.bands = true;
  options.e_steps = 20;
  const auto p = model::predict({{&client, {&client.training}}}, prior, options)[0][0][0];
  const std::size_t points = p.mean.size();
  for (std::size_t n = 25; n < points; n += 20) {
    const double low = model::intensity_quantile(p, n, points, 0.05),
                 high = model::intensity_quantile(p, n, points, 0.95);
    EXPECT_LT(low, 0.25);
    EXPECT_GT(high, 0.25);
    EXPECT_GT(std::log(high / low), 0.9) << n;
  }
}

/// Then they are those of the priors: nu ~ N(0, 2^2) and log m of sd 10, sigma(f) = 1/2 where f = 0.
TEST(Predict, bands_without_training_points_are_the_priors) {
  data::Realisation nothing;
  nothing.span = {0, 100};
  const Client client = model::make_client(0, test::small_encoder(gpu::EncoderKind::kRbf), {nothing}, 6, 1.0);
  const model::WeightPosterior prior{{std::log(1.5), std::log(10.0)}, {1e-12, 1e-12}};
  std::mt19937_64 engine(1);
  const std::vector<data::Realisation> points{test::random_realisation(engine, 0, 9)};
  PredictionOptions options;
  options.samples = 1;
  options.bands = true;
  const auto p = model::predict({{&client, {&points}}}, prior, options)[0][0][0];
  for (std::size_t n = 0; n < p.mean.size(); ++n) {
    EXPECT_NEAR(p.mean[n], 0, 1e-12);
    EXPECT_NEAR(p.variance[n], 1.5, 1e-5);
    EXPECT_NEAR(p.level_variance[n], 0.25 * 4 + 100, 1e-9);
  }
}

/// From far out, where sigma(f) is 1 and tells nothing, steps come back slowly.
TEST(Predict, bands_start_no_further_out_than_the_level_is_thought_to_be) {
  Client client = model::make_client(0, test::small_encoder(gpu::EncoderKind::kRbf), {test::simulated(7)}, 6, 1.0);
  client.state.offset = 300;
  const model::WeightPosterior prior{{std::log(1.5), std::log(10.0)}, {1e-12, 1e-12}};
  PredictionOptions options;
  options.samples = 1;
  options.e_steps = 1;
  options.bands = true;
  const auto p = model::predict({{&client, {&client.training}}}, prior, options)[0][0][0];
  for (const double mean : p.mean) EXPECT_LT(std::fabs(mean), 10);
}

/// E[sigma(f)], f ~ N(mean, variance), by Simpson's rule.
double expected_sigmoid(double mean, double variance) {
  const int cells = 400;
  const double most = 9, width = 2 * most / cells;
  double sum = 0;
  for (int k = 0; k <= cells; ++k) {
    const double z = -most + k * width, share = k == 0 || k == cells ? 1 : k % 2 == 1 ? 4 : 2;
    sum += share * sigmoid(mean + z * std::sqrt(variance)) * std::exp(-z * z / 2);
  }
  return sum * width / 3 / std::sqrt(2 * M_PI);
}

/// From the client's start: q(v), m and nu in turn, nu with N(0, 2^2) as its prior; then m so that the mean adds up.
TEST(Predict, bands_take_their_steps_under_a_prior_of_nu) {
  const int m = 6, steps = 3;
  const Client client =
      model::make_client(0, test::small_encoder(gpu::EncoderKind::kRbf), {test::simulated(7)}, m, 1.0);
  const model::WeightPosterior prior{{std::log(1.5), std::log(20.0)}, {1e-12, 1e-12}};
  PredictionOptions options;
  options.samples = 1;
  options.e_steps = steps;
  options.bands = true;
  const auto p = model::predict({{&client, {&client.training}}}, prior, options)[0][0][0];

  const auto& r = client.training[0];
  reference::Client plain;
  plain.kernel = {false, 1, 100, {}};
  plain.weights = {prior.mean};
  plain.jitter = options.jitter;
  plain.rate = client.state.rate;
  reference::Realisation points{client.inducing[0].times,     r.events,       r.multiplicities,
                                Vector(r.events.size(), 0.0), Vector(m, 0.0), reference::Matrix(m, m)};
  points.time.insert(points.time.end(), r.nodes.begin(), r.nodes.end());
  points.multiplicity.resize(points.time.size(), 0.0);
  points.node_weight.insert(points.node_weight.end(), r.node_weights.begin(), r.node_weights.end());
  for (int i = 0; i < m; ++i) points.factor(i, i) = 1;
  plain.realisations = {points};
  for (int step = 0; step < steps; ++step) {
    const auto of_v = reference::step(plain);
    plain.realisations[0].v_mean = of_v.v_mean_next[0];
    plain.realisations[0].factor = reference::factor_of(of_v.v_cov_next[0]);
    plain.rate = reference::step(plain).rate_next;
    const auto of_offset = reference::step(plain).augmented[0];
    double precision = 1.0 / 4, sum = 0;
    for (std::size_t n = 0; n < points.time.size(); ++n) {
      precision += of_offset.alpha[n];
      sum += of_offset.beta[n] - of_offset.alpha[n] * (of_offset.mean[n] - plain.offset);
    }
    plain.offset = sum / precision;
  }
  const auto f = reference::forward(plain, plain.realisations[0], plain.weights[0]);
  double events = 0, exposure = 0;  // with the variance that the prediction has, which is no E-step's
  for (std::size_t n = 0; n < f.mean.size(); ++n) {
    EXPECT_NEAR(p.mean[n], f.mean[n], 1e-7) << n;
    events += points.multiplicity[n];
    exposure += points.node_weight[n] * expected_sigmoid(f.mean[n], p.variance[n]);
  }
  EXPECT_NEAR(p.rate / (events / exposure), 1, 1e-8);
  EXPECT_GT(p.rate / plain.rate, 1.001);
}

TEST(Predict, means_with_bands_add_up_to_the_events) {
  for (const bool averaged : {false, true}) {
    const Client client = test::small_client(2);
    PredictionOptions options;
    options.samples = 3;
    options.e_steps = 5;
    options.bands = true;
    const auto p = model::LatentPosterior({&client}, test::small_prior(), options, averaged).at({&client.training})[0];
    double events = 0, compensator = 0;
    for (std::size_t i = 0; i < client.training.size(); ++i) {
      const auto& r = client.training[i];
      for (const double multiplicity : r.multiplicities) events += multiplicity;
      for (std::size_t j = 0; j < r.nodes.size(); ++j)
        compensator += r.node_weights[j] * p[i].expected_intensity[r.events.size() + j];
    }
    EXPECT_NEAR(compensator / events, 1, 1e-10);
  }
}

/// Without events the floor of m's update stays, without exposure m itself.
TEST(Predict, bands_keep_a_rate_where_there_is_nothing_to_add_up_to) {
  std::mt19937_64 engine(5);
  data::Realisation nothing;
  nothing.span = {0, 100};
  PredictionOptions options;
  options.samples = 2;
  options.e_steps = 5;
  options.bands = true;
  for (const auto& [training, exposed] :
       {std::pair{test::random_realisation(engine, 0, 30), true}, std::pair{nothing, false}}) {
    const Client client = model::make_client(0, test::small_encoder(), {training}, 6, 1.0);
    const auto p = model::predict({{&client, {&client.training}}}, test::small_prior(), options)[0][0][0];
    double exposure = 0;
    for (const double w : training.node_weights) exposure += w;
    if (exposed) {
      EXPECT_DOUBLE_EQ(p.rate, 0.5 / exposure);
    } else {
      EXPECT_DOUBLE_EQ(p.rate, client.state.rate);
    }
  }
}

TEST(Predict, bands_are_the_same_by_steps_on_averages) {
  const Client client = test::small_client(2);
  const auto prior = test::small_prior();
  PredictionOptions options;
  options.samples = 4;
  options.e_steps = 5;
  options.bands = true;
  const auto at = [&](bool averaged) {
    return model::LatentPosterior({&client}, prior, options, averaged).at({&client.training})[0];
  };
  const auto by_samples = at(false), by_averages = at(true);
  for (std::size_t i = 0; i < by_samples.size(); ++i) {
    test::expect_close(by_averages[i].mean, by_samples[i].mean, 1e-8, "mean");
    test::expect_close(by_averages[i].variance, by_samples[i].variance, 1e-8, "variance");
    test::expect_close(by_averages[i].level_variance, by_samples[i].level_variance, 1e-8, "level");
  }
}

}  // namespace
