#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/error.hpp"
#include "data/simulate.hpp"
#include "files.hpp"

using namespace fedpp::data;

namespace {

/// Mean and standard error of the counts.
std::pair<double, double> mean_count(const std::vector<SimulatedSequence>& sequences) {
  double sum = 0, squares = 0;
  for (const auto& s : sequences) {
    sum += static_cast<double>(s.times.size());
    squares += static_cast<double>(s.times.size() * s.times.size());
  }
  const double n = static_cast<double>(sequences.size()), mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / (n - 1))};
}

void expect_legal(const std::vector<SimulatedSequence>& sequences) {
  for (const auto& s : sequences) {
    EXPECT_EQ(s.times.size(), s.types.size());
    EXPECT_TRUE(std::is_sorted(s.times.begin(), s.times.end()));
    for (double t : s.times) EXPECT_TRUE(s.window.start <= t && t <= s.window.end);
  }
}

}  // namespace

TEST(SimulatePoisson, CountsInTotalAndInHalves) {
  auto intensity = [](double t) { return 2 + std::sin(t); };
  const auto drawn = simulate_poisson(intensity, 3, {1, 9}, 2000, 1);
  expect_legal(drawn);
  auto integral = [](double a, double b) { return 2 * (b - a) + std::cos(a) - std::cos(b); };
  double first = 0;
  for (const auto& s : drawn) first += std::count_if(s.times.begin(), s.times.end(), [](double t) { return t < 5; });
  EXPECT_NEAR(mean_count(drawn).first, integral(1, 9), 4 * std::sqrt(integral(1, 9) / 2000));
  EXPECT_NEAR(first / 2000, integral(1, 5), 4 * std::sqrt(integral(1, 5) / 2000));
}

TEST(SimulatePoisson, ABoundThatDoesNotHoldIsAnError) {
  EXPECT_USER_ERROR(simulate_poisson([](double) { return 5.0; }, 3, {0, 100}, 1, 1), "5", "raise the bound");
}

TEST(SimulateHawkes, MeanCount) {
  HawkesSettings settings;
  settings.mu = 0.5;
  settings.alpha = 0.6;
  settings.beta = 1.5;
  settings.window = 50;
  settings.sequences = 2000;
  const auto drawn = simulate_hawkes(settings, 2);
  expect_legal(drawn);
  // E lambda(t) = mu (1 - alpha exp(-beta (1 - alpha) t)) / (1 - alpha), integrated.
  const double rest = 1 - settings.alpha, rate = settings.beta * rest;
  const double expected =
      settings.mu / rest * (settings.window - settings.alpha / rate * (1 - std::exp(-rate * settings.window)));
  const auto [mean, error] = mean_count(drawn);
  EXPECT_NEAR(mean, expected, 4 * error);
}

// Time rescaling: compensator increments of the true intensity are exponential of mean 1.
TEST(SimulateHawkes, CompensatorIncrementsAreExponential) {
  HawkesSettings settings;
  settings.window = 5000;
  const auto s = simulate_hawkes(settings, 3)[0];
  double excited = 0, last = 0, sum = 0, below = 0;
  for (double t : s.times) {
    const double decay = std::exp(-settings.beta * (t - last));
    const double increment = settings.mu * (t - last) + excited / settings.beta * (1 - decay);
    excited = excited * decay + settings.alpha * settings.beta;
    sum += increment;
    below += increment < std::log(2.0);
    last = t;
  }
  const double n = static_cast<double>(s.times.size());
  EXPECT_NEAR(sum / n, 1, 4 / std::sqrt(n));
  EXPECT_NEAR(below / n, 0.5, 4 * 0.5 / std::sqrt(n));
}

TEST(SimulateCox, CountsFollowTheTruth) {
  CoxSettings settings;
  settings.sequences = 500;
  const CoxDraw draw = simulate_cox(settings, 4);
  expect_legal(draw.sequences);
  const auto& truth = draw.truth;
  ASSERT_EQ(truth.grid.size(), 1001u);
  EXPECT_EQ(truth.grid.back(), 100);
  double integral = 0, half = 0;
  for (std::size_t g = 0; g + 1 < truth.grid.size(); ++g) {
    const double cell = 0.05 * (truth.intensity[g] + truth.intensity[g + 1]);
    integral += cell;
    if (g < 500) half += cell;
    EXPECT_NEAR(truth.intensity[g], 0.5 / (1 + std::exp(-truth.f[g])), 1e-12);
  }
  double first = 0;
  for (const auto& s : draw.sequences)
    first += std::count_if(s.times.begin(), s.times.end(), [](double t) { return t < 50; });
  EXPECT_NEAR(mean_count(draw.sequences).first, integral, 4 * std::sqrt(integral / 500));
  EXPECT_NEAR(first / 500, half, 4 * std::sqrt(half / 500));
}

// Over many draws f has mean 0 and covariance r exp(-d^2/(2 l^2)).
TEST(SimulateCox, FunctionsHaveTheKernelsMoments) {
  CoxSettings settings;
  settings.sequences = 0;
  settings.grid = 11;
  double variance = 0, covariance = 0;
  const int draws = 3000;
  for (int d = 0; d < draws; ++d) {
    const auto f = simulate_cox(settings, 100 + d).truth.f;
    variance += f[5] * f[5] / draws;
    covariance += f[5] * f[6] / draws;
  }
  const double r = settings.variance, c = r * std::exp(-0.5);
  EXPECT_NEAR(variance, r, 4 * r * std::sqrt(2.0 / draws));
  EXPECT_NEAR(covariance, c, 4 * std::sqrt((r * r + c * c) / draws));
}

TEST(SimulateCox, ThePapersTwoClients) {
  const auto draws = simulate_paper_cox(7);
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_NE(draws[0].truth.f, draws[1].truth.f);
  EXPECT_EQ(draws[1].sequences[0].id, 1);
  for (int type : draws[1].sequences[0].types) EXPECT_EQ(type, 1);
  EXPECT_EQ(simulate_paper_cox(7)[0].sequences[0].times, draws[0].sequences[0].times);
  EXPECT_NE(simulate_paper_cox(8)[0].sequences[0].times, draws[0].sequences[0].times);
}

TEST(SimulateNeuralHawkes, LengthsAndTypes) {
  NeuralHawkesSettings settings;
  settings.sequences = 200;
  const auto drawn = simulate_neural_hawkes(settings, 1);
  expect_legal(drawn);
  double events = 0;
  std::vector<int> types(5, 0);
  for (const auto& s : drawn) {
    EXPECT_TRUE(20 <= s.times.size() && s.times.size() <= 100);
    events += static_cast<double>(s.times.size());
    for (int type : s.types) ++types.at(type);
  }
  const double sd = std::sqrt((81.0 * 81 - 1) / 12);  // uniform on 20..100
  EXPECT_NEAR(events / 200, 60, 4 * sd / std::sqrt(200.0));
  for (int n : types) EXPECT_GT(n, 0);
  EXPECT_EQ(simulate_neural_hawkes(settings, 1)[199].times, drawn[199].times);
}
