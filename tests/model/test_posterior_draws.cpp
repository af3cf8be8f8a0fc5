// Joint draws of the intensity: at a point the distribution that bands show, at two points together that of a plain
// draw from the joint Gaussian of (nu, log m, v).
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gpu/cases.hpp"
#include "model/clients.hpp"
#include "model/prediction.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::LatentPosterior;
using model::PredictionOptions;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

constexpr double kLengthscale = 20, kVariance = 1.5, kJitter = 1e-6;

/// Forty events, most of them early.
data::Realisation early_events() {
  std::mt19937_64 engine(11);
  auto r = test::random_realisation(engine, 40, 200);
  for (std::size_t i = 0; i < 40; ++i) r.events[i] = 0.05 * static_cast<double>((i + 1) * (i + 1));
  return r;
}

PredictionOptions options_of(int samples) {
  PredictionOptions options;
  options.jitter = kJitter;
  options.samples = samples;
  options.e_steps = 15;
  options.bands = true;
  return options;
}

data::Realisation asked_at(const std::vector<double>& times) {
  data::Realisation points;
  points.nodes = times;
  points.node_weights.assign(times.size(), 1.0);
  return points;
}

/// [point][draw] of the first draws.
std::vector<std::vector<double>> drawn(const LatentPosterior& posterior, const data::Realisation& points, int count,
                                       std::uint64_t seed = 3) {
  const std::size_t n = points.nodes.size();
  const auto all = posterior.drawn({points}, {seed, count, {std::vector<std::int64_t>(n, 0)}})[0];
  std::vector<std::vector<double>> by_point;
  for (std::size_t j = 0; j < n; ++j)
    by_point.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(j * count),
                          all.begin() + static_cast<std::ptrdiff_t>((j + 1) * count));
  return by_point;
}

TEST(PosteriorDraws, have_the_quantiles_of_bands_at_a_point) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kDeepKernel, config::PriorMean::kLinear);
  auto prior = model::initial_prior({}, encoder, 5);
  for (double& sd : prior.sd) sd = 0.2;
  const Client client = model::make_client(4, encoder, {early_events()}, 8, 1.0);
  const auto options = options_of(5);
  const auto points = asked_at({1, 30, 90, 140});
  const std::vector<data::Realisation> set{points};
  const auto bands = model::predict({{&client, {&set}}}, prior, options)[0][0][0];
  const LatentPosterior posterior({&client}, prior, options, model::on_averages(client, options));
  const int count = 20000;
  const auto draws = drawn(posterior, points, count);
  for (std::size_t j = 0; j < draws.size(); ++j)
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      const double quantile = model::intensity_quantile(bands, j, draws.size(), q);
      const auto below = std::count_if(draws[j].begin(), draws[j].end(), [&](double x) { return x < quantile; });
      EXPECT_NEAR(static_cast<double>(below) / count, q, 4 * std::sqrt(q * (1 - q) / count)) << j << ' ' << q;
    }
}

struct Pair {
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  void add(double a, double b, int count) {
    mean_a += a / count;
    mean_b += b / count;
    aa += a * a / count;
    bb += b * b / count;
    ab += a * b / count;
  }
  double sd_a() const { return std::sqrt(aa - mean_a * mean_a); }
  double correlation() const { return (ab - mean_a * mean_b) / (sd_a() * std::sqrt(bb - mean_b * mean_b)); }
};

TEST(PosteriorDraws, at_two_points_are_draws_from_the_joint_posterior_of_level_and_v) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kRbf);
  const int m = 6, count = 20000;
  const Client client = model::make_client(0, encoder, {early_events()}, m, 1.0);
  const model::WeightPosterior prior{{std::log(kVariance), std::log(kLengthscale)}, {1e-12, 1e-12}};
  const auto options = options_of(1);
  const std::vector<double> times{4, 7, 60, 125};
  const auto points = asked_at(times);
  const std::vector<data::Realisation> set{points};
  const auto predictions = model::predict({{&client, {&client.training, &set}}}, prior, options)[0];
  const auto &training = predictions[0][0], &asked = predictions[1][0];

  const auto& r = client.training[0];
  const auto& z = client.inducing[0].times;
  const auto kappa = [&](double a, double b) {
    return kVariance * std::exp(-(a - b) * (a - b) / (2 * kLengthscale * kLengthscale));
  };
  reference::Matrix kzz(m, m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) kzz(i, j) = kappa(z[i], z[j]) + (i == j ? kJitter * kVariance : 0);
  const auto features = [&](const std::vector<double>& at) {
    reference::Matrix k(m, at.size());
    for (int i = 0; i < m; ++i)
      for (std::size_t n = 0; n < at.size(); ++n) k(i, n) = kappa(z[i], at[n]);
    return reference::forward_substitution(reference::cholesky(kzz), k);
  };
  // Expected information about (nu, log m, v), and about v given the others.
  const auto v = features(r.nodes), va = features(times);
  reference::Matrix joint(m + 2, m + 2), given(m, m), shared(m, 2);
  joint(0, 0) = 0.25;
  joint(1, 1) = 0.01;
  for (int i = 0; i < m; ++i) joint(2 + i, 2 + i) = given(i, i) = 1;
  for (std::size_t q = 0; q < r.nodes.size(); ++q) {
    const double s = logistic(training.mean[r.events.size() + q]), count_there = r.node_weights[q] * training.rate * s;
    std::vector<double> g{1 - s, 1};
    for (int i = 0; i < m; ++i) g.push_back((1 - s) * v(i, q));
    for (int i = 0; i < m + 2; ++i)
      for (int j = 0; j < m + 2; ++j) joint(i, j) += count_there * g[i] * g[j];
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) given(i, j) = joint(2 + i, 2 + j);
    for (int j : {0, 1}) shared(i, j) = joint(2 + i, j);
  }
  const auto direction = reference::solve(given, shared);
  const auto factor = reference::cholesky(joint);

  const LatentPosterior posterior({&client}, prior, options, model::on_averages(client, options));
  const auto draws = drawn(posterior, points, count);
  std::mt19937_64 engine(9);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> plain(times.size());
  // joint^-1 factor z has covariance joint^-1.
  const auto spread = reference::solve(joint, factor);
  for (int d = 0; d < count; ++d) {
    std::vector<double> noise(m + 2), x(m + 2, 0.0);
    for (double& e : noise) e = normal(engine);
    for (int i = 0; i < m + 2; ++i)
      for (int j = 0; j < m + 2; ++j) x[i] += spread(i, j) * noise[j];
    const double unexplained = normal(engine);
    for (std::size_t n = 0; n < times.size(); ++n) {
      double given_way = 0, free = 0, residual = kVariance;
      for (int i = 0; i < m; ++i) {
        const double gives = direction(i, 0) * x[0] + direction(i, 1) * x[1];
        given_way -= va(i, n) * gives;
        free += va(i, n) * (x[2 + i] + gives);
        residual -= va(i, n) * va(i, n);
      }
      const double slope = 1 - logistic(asked.mean[n]);
      const double f = asked.mean[n] + free + std::sqrt(residual) * unexplained;
      plain[n].push_back(std::log(asked.rate * logistic(f)) + slope * x[0] + x[1] + slope * given_way);
    }
  }
  double least = 1;
  for (std::size_t a = 0; a < times.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      Pair ours, theirs;
      for (int d = 0; d < count; ++d) {
        ours.add(std::log(draws[a][d]), std::log(draws[b][d]), count);
        theirs.add(plain[a][d], plain[b][d], count);
      }
      const double se = 4 * std::sqrt(2.0 / count);  // of a difference of two means in sds, and about of the others
      EXPECT_NEAR(ours.mean_a, theirs.mean_a, se * theirs.sd_a()) << a << ' ' << b;
      EXPECT_NEAR(ours.sd_a() / theirs.sd_a(), 1, 2 * se) << a << ' ' << b;
      EXPECT_NEAR(ours.correlation(), theirs.correlation(), se) << a << ' ' << b;
      least = std::min(least, ours.correlation());
    }
  EXPECT_LT(least, 0.5);  // or nothing was seen
}

TEST(PosteriorDraws, are_the_same_function_wherever_they_are_read) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kDeepKernel);
  const auto prior = model::initial_prior({}, encoder, 5);
  const Client client = model::make_client(7, encoder, {early_events()}, 8, 1.0);
  const auto options = options_of(3);
  const LatentPosterior posterior({&client}, prior, options, model::on_averages(client, options));
  const auto together = drawn(posterior, asked_at({5, 50, 50, 95}), 7);
  EXPECT_EQ(together[1], together[2]);
  EXPECT_NE(together[0], together[1]);
  // The fifth draw alone, at one point.
  const auto alone = posterior.drawn({asked_at({50})}, {3, 1, {{4}}})[0];
  EXPECT_NEAR(alone[0] / together[1][4], 1, 1e-12);
  EXPECT_NE(drawn(posterior, asked_at({50}), 7, 4)[0], together[1]);  // another seed
}

/// v is each realisation's own, nu and m are the client's: log lambda in two of them shares what the level adds.
TEST(PosteriorDraws, of_two_realisations_share_the_level_alone) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kRbf);
  std::mt19937_64 engine(12);
  const auto one = test::random_realisation(engine, 5, 60), other = test::random_realisation(engine, 2, 70);
  auto client = model::make_client(5, encoder, {other, one, one}, 6, 1.0);
  client.inducing[0] = model::inducing_points(other, 4);
  client.state.v_mean.assign(4 + 6 + 6, 0.0);
  client.state.v_factor.clear();
  for (const int m : {4, 6, 6})  // N(0, I) as at the start
    for (int i = 0; i < m * m; ++i) client.state.v_factor.push_back(i % (m + 1) == 0 ? 1 : 0);
  const model::WeightPosterior prior{{std::log(kVariance), std::log(kLengthscale)}, {1e-12, 1e-12}};
  const auto options = options_of(1);
  const std::vector<data::Realisation> set(3, asked_at({30, 110}));
  const auto bands = model::predict({{&client, {&set}}}, prior, options)[0][0];
  const LatentPosterior posterior({&client}, prior, options, model::on_averages(client, options));
  constexpr int kDraws = 20000;
  const auto draws = posterior.drawn(set, {3, kDraws, {{0, 0}, {0, 0}, {0, 0}}});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (const double q : {0.05, 0.5, 0.95}) {
        const double quantile = model::intensity_quantile(bands[i], j, 2, q);
        const auto from = draws[i].begin() + static_cast<std::ptrdiff_t>(j * kDraws);
        const auto below = std::count_if(from, from + kDraws, [&](double x) { return x < quantile; });
        EXPECT_NEAR(static_cast<double>(below) / kDraws, q, 4 * std::sqrt(q * (1 - q) / kDraws)) << i << ' ' << j;
      }
  for (std::size_t j = 0; j < 2; ++j) {  // the second and the third have the same events
    Pair pair;
    for (int d = 0; d < kDraws; ++d)
      pair.add(std::log(draws[1][j * kDraws + d]), std::log(draws[2][j * kDraws + d]), kDraws);
    const double covariance = pair.ab - pair.mean_a * pair.mean_b, variance = pair.sd_a() * pair.sd_a();
    EXPECT_NEAR(covariance, bands[1].level_variance[j], 5 * variance / std::sqrt(kDraws)) << j;
    EXPECT_GT(variance, 1.3 * covariance) << "v adds little: the test tests little";
    EXPECT_GT(covariance, 10 * variance / std::sqrt(kDraws)) << "the level adds little: the test tests little";
  }
}

TEST(PosteriorDraws, have_numbers_of_more_than_32_bits) {
  const auto encoder = test::small_encoder(gpu::EncoderKind::kDeepKernel);
  const Client client = model::make_client(7, encoder, {early_events()}, 8, 1.0);
  const LatentPosterior posterior({&client}, model::initial_prior({}, encoder, 5), options_of(1), false);
  const auto draw = [&](std::int64_t number) { return posterior.drawn({asked_at({50})}, {3, 1, {{number}}})[0][0]; };
  EXPECT_NE(draw(7), draw((std::int64_t{1} << 32) + 7));
}

}  // namespace
