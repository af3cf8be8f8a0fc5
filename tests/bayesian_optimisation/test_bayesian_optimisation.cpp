// The Gaussian process against dense formulas, the acquisition against its integral, the optimiser on known functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>

#include "bayesian_optimisation/gaussian_process.hpp"
#include "bayesian_optimisation/optimiser.hpp"

namespace fedpp::bayesian_optimisation {
namespace {

/// Inverse and log-determinant by Gauss and Jordan's elimination.
std::vector<std::vector<double>> inverse(std::vector<std::vector<double>> a, double* log_determinant) {
  const std::size_t n = a.size();
  std::vector<std::vector<double>> b(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  *log_determinant = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double pivot = a[j][j];
    *log_determinant += std::log(pivot);
    for (std::size_t k = 0; k < n; ++k) a[j][k] /= pivot, b[j][k] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = a[i][j];
      if (i == j || factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) a[i][k] -= factor * a[j][k], b[i][k] -= factor * b[j][k];
    }
  }
  return b;
}

struct Dense {
  double log_likelihood, mean, sd;
};

/// Likelihood (without constants) and the moments at one point for a given pair (l, eta).
Dense dense(const std::vector<double>& x, const std::vector<double>& y, double l, double eta, double at) {
  const std::size_t n = x.size();
  std::vector<std::vector<double>> r(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double d = std::fabs(x[i] - x[j]);
      r[i][j] = (1 + std::sqrt(5) * d / l + 5 * d * d / (3 * l * l)) * std::exp(-std::sqrt(5) * d / l) + (i == j) * eta;
    }
  double log_determinant = 0;
  const auto p = inverse(r, &log_determinant);
  double ones = 0, onto = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) ones += p[i][j], onto += p[i][j] * y[j];
  const double mean = onto / ones;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) square += (y[i] - mean) * p[i][j] * (y[j] - mean);
  const double variance = square / static_cast<double>(n);
  double f = mean, reduced = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      f += matern52(at - x[i], l) * p[i][j] * (y[j] - mean);
      reduced += matern52(at - x[i], l) * p[i][j] * matern52(at - x[j], l);
    }
  return {-0.5 * static_cast<double>(n) * std::log(variance) - 0.5 * log_determinant, f,
          std::sqrt(variance * (1 - reduced))};
}

TEST(GaussianProcess, IsTheDenseOneOfTheGreatestLikelihood) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int draw = 0; draw < 5; ++draw) {
    std::vector<double> x, y;
    for (int i = 0; i < 9; ++i) {
      x.push_back(2 + 3 * uniform(random));
      y.push_back(std::sin(2 * x.back() + draw) + 0.1 * uniform(random));
    }
    const GaussianProcess process(x, y, 3);
    const auto expected = dense(x, y, process.lengthscale(), process.noise_ratio(), 3.3);
    EXPECT_NEAR(process.log_likelihood(), expected.log_likelihood, 1e-6);
    EXPECT_NEAR(process.at(3.3).mean, expected.mean, 1e-6);
    EXPECT_NEAR(process.at(3.3).sd, expected.sd, 1e-5);
    for (const double l : {3 * 0.07, 3 * 0.28, 3 * 1.1})
      for (const double eta : {1e-3, 1e-1})
        EXPECT_GE(process.log_likelihood(), dense(x, y, l, eta, 3.3).log_likelihood - 1e-6);
  }
}

TEST(GaussianProcess, ConstantsHaveNoVariance) {
  const std::vector<double> x{0, 0.5, 1}, y{-2, -2, -2};
  const auto f = GaussianProcess(x, y, 1).at(0.3);
  EXPECT_NEAR(f.mean, -2, 1e-9);
  EXPECT_LT(f.sd, 1e-9);
}

TEST(ExpectedImprovement, IsItsIntegral) {
  for (const auto& [mean, sd, best] : {std::tuple{0.3, 0.7, 0.5}, {-2.0, 0.4, 0.0}, {1.0, 0.2, 0.5}}) {
    double integral = 0;
    for (double z = -9; z < 9; z += 1e-3)
      integral += 1e-3 * std::max(mean + sd * z - best, 0.0) * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(expected_improvement(mean, sd, best), integral, 1e-6);
  }
  EXPECT_EQ(expected_improvement(2, 0, 1.5), 0.5);
  EXPECT_EQ(expected_improvement(1, 0, 1.5), 0);
}

/// The best of 5 + 15 points on [0.6, 1].
Optimiser maximise(const std::function<double(double)>& f, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Optimiser optimiser(0.6, 1.0);
  for (int step = 0; step < 20; ++step) optimiser.observe(f(optimiser.propose(uniform(random))));
  return optimiser;
}

TEST(Optimiser, FindsTheMaximaOfKnownFunctions) {
  const struct {
    std::function<double(double)> f;
    double at;
  } cases[] = {
      {[](double x) { return -(x - 0.87) * (x - 0.87); }, 0.87},
      {[](double x) { return -1000 * std::fabs(x - 0.7123); }, 0.7123},
      {[](double x) {
         return 1e6 + std::exp(-std::pow((x - 0.64) / 0.05, 2)) + 0.7 * std::exp(-std::pow((x - 0.93) / 0.05, 2));
       },
       0.64},
      {[](double x) { return x; }, 1.0},
      {[](double x) { return -x; }, 0.6},
      {[](double x) { return std::sin(25 * x) + x; }, 0.817},  // 25 x = 5 pi / 2 + 4 pi, a little later
  };
  for (const auto& c : cases)
    for (unsigned seed = 1; seed <= 5; ++seed)
      EXPECT_NEAR(maximise(c.f, seed).best(), c.at, 0.01) << c.at << " seed " << seed;
}

TEST(Optimiser, ChoosesBetweenTheBestPointsOfItsAcquisitionsByWhatTheseHaveGained) {
  // GP-Hedge as it is defined, with the process and the expected improvement of the tests above.
  const auto f = [](double x) { return 3 * std::sin(7 * x) + x; };
  Optimiser optimiser(0, 1);
  std::vector<double> x, y, nominees;
  double gains[2] = {0, 0}, difference = 0, apart = 0;
  for (int step = 0; step < 10; ++step) {
    if (step >= 5) {
      const auto n = static_cast<double>(y.size());
      const double mean = std::accumulate(y.begin(), y.end(), 0.0) / n;
      double square = 0;
      for (const double value : y) square += (value - mean) * (value - mean) / n;
      std::vector<double> in_sds;
      for (const double value : y) in_sds.push_back((value - mean) / std::sqrt(square));
      const GaussianProcess process(x, in_sds, 1);
      for (std::size_t k = 0; k < nominees.size(); ++k) gains[k] += process.at(nominees[k]).mean;
      const double highest = *std::max_element(in_sds.begin(), in_sds.end());
      double best[2] = {-1e300, -1e300};
      nominees.assign(2, 0);
      for (int c = 0; c <= 80; ++c) {
        const double at = c / 80.0;
        if (std::any_of(x.begin(), x.end(), [&](double other) { return std::fabs(at - other) < 1e-9; })) continue;
        const auto [expected, sd] = process.at(at);
        const double worth[2] = {expected_improvement(expected, sd, highest), expected + 2 * sd};
        for (int k = 0; k < 2; ++k)
          if (worth[k] > best[k]) best[k] = worth[k], nominees[k] = at;
      }
      const double chance = std::exp(gains[0]) / (std::exp(gains[0]) + std::exp(gains[1]));
      for (int k = 0; k < 2; ++k) {
        auto asked = optimiser;
        EXPECT_NEAR(asked.propose(chance + (k == 0 ? -1e-6 : 1e-6)), nominees[k], 1e-12) << step;
      }
      difference = std::max(difference, std::fabs(gains[1] - gains[0]));
      apart = std::max(apart, std::fabs(nominees[1] - nominees[0]));
    }
    x.push_back(optimiser.propose(0.4));
    y.push_back(f(x.back()));
    optimiser.observe(y.back());
  }
  EXPECT_GT(difference, 0.01) << "equal gains: the test tests little";
  EXPECT_GT(apart, 0.01) << "equal points: the test tests little";
}

TEST(Optimiser, TheBestOfAllEvaluatedPointsWins) {
  // A spike that no process expects, at an initial point.
  const auto spike = maximise([](double x) { return x == 1.0 ? 5.0 : x; }, 1);
  EXPECT_EQ(spike.best(), 1.0);
  // All alike: the first, which is the upper end.
  EXPECT_EQ(maximise([](double) { return 3.0; }, 1).best(), 1.0);
}

TEST(Optimiser, ValuesThatAreNotFiniteAreTheWorst) {
  const auto found = maximise([](double x) { return x > 0.9 ? NAN : -(x - 0.8) * (x - 0.8); }, 1);
  EXPECT_NEAR(found.best(), 0.8, 0.01);
  EXPECT_EQ(maximise([](double) { return NAN; }, 1).best(), 1.0);
}

TEST(Optimiser, AValueThatIsNotFiniteIsAsTheWorstSoFar) {
  Optimiser told(0, 1), untold(0, 1);
  const std::vector<double> values{0.3, 1, -0.2, 0.5, 0.9};
  for (int step = 0; step < 9; ++step) {
    const double x = told.propose(0.3);
    EXPECT_EQ(untold.propose(0.3), x) << step;
    const double value = step < 5 ? values[step] : std::cos(9 * x);
    told.observe(step == 3 ? -0.2 : value);
    untold.observe(step == 3 ? NAN : value);
  }
}

TEST(Optimiser, IsAFunctionOfWhatItIsTold) {
  const auto f = [](double x) { return std::cos(9 * x); };
  std::vector<double> first, second;
  for (auto* points : {&first, &second}) {
    Optimiser optimiser(0, 2);
    for (int step = 0; step < 12; ++step) {
      points->push_back(optimiser.propose(0.3));
      optimiser.observe(f(points->back()));
    }
  }
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace fedpp::bayesian_optimisation
