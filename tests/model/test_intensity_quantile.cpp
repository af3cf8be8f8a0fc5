// Quantiles of the intensity from the moments of a prediction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "model/prediction.hpp"

namespace {

using namespace fedpp;
using model::RealisationPrediction;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

TEST(IntensityQuantile, of_one_sample_is_the_normal_quantile_through_m_sigma) {
  RealisationPrediction p;
  p.rate = 3;
  p.mean = {0.4, -30, 2};
  p.variance = {4, 1e-4, 0};
  const double z95 = 1.6448536269514722;
  for (const auto& [q, z] : {std::pair{0.05, -z95}, {0.5, 0.0}, {0.95, z95}}) {
    for (std::size_t point = 0; point < 3; ++point) {
      const double wanted = 3 * sigma(p.mean[point] + std::sqrt(p.variance[point]) * z);
      EXPECT_NEAR(model::intensity_quantile(p, point, 3, q) / wanted, 1, 1e-8) << point << ' ' << q;
    }
  }
}

TEST(IntensityQuantile, of_a_model_that_has_left_all_bounds_ends) {
  RealisationPrediction p;
  p.rate = 3;
  p.mean = {-1e6, -3e6, -1e7, 1e200, std::nan("")};
  p.variance = {0.01, 1, 900, 1e300, 1};
  for (std::size_t point = 0; point < 3; ++point) EXPECT_EQ(model::intensity_quantile(p, point, 5, 0.95), 0) << point;
  for (std::size_t point = 3; point < 5; ++point) model::intensity_quantile(p, point, 5, 0.95);
}

/// The quantiles at the second of two points against draws of the intensity there.
void expect_quantiles(const RealisationPrediction& p, std::vector<double>& draws) {
  std::sort(draws.begin(), draws.end());
  for (const double q : {0.05, 0.2, 0.5, 0.6, 0.95}) {
    const double quantile = model::intensity_quantile(p, 1, 2, q);
    const double below = static_cast<double>(std::lower_bound(draws.begin(), draws.end(), quantile) - draws.begin());
    EXPECT_NEAR(below / static_cast<double>(draws.size()), q, 0.004) << q;  // four standard errors
  }
}

TEST(IntensityQuantile, of_several_samples_is_that_of_the_mixture) {
  RealisationPrediction p;  // two points, three samples of the weights: [S][points]
  p.rate = 2;
  p.mean = {9, -2, 9, 0.5, 9, 3};
  p.variance = {1, 0.3, 1, 2, 1, 0.01};
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  std::vector<double> draws;
  for (int i = 0; i < 300000; ++i) {
    const std::size_t s = static_cast<std::size_t>(i % 3);
    draws.push_back(p.rate * sigma(p.mean[2 * s + 1] + std::sqrt(p.variance[2 * s + 1]) * normal(engine)));
  }
  expect_quantiles(p, draws);
}

TEST(IntensityQuantile, adds_the_level_to_the_logarithm) {
  RealisationPrediction p;  // the level wider than log sigma(f), narrower, far narrower, alone
  p.rate = 2;
  p.mean = {9, -2, 9, 0.5, 9, 3, 9, 1};
  p.variance = {1, 0.3, 1, 2, 1, 25, 1, 0};
  p.level_variance = {1, 1.5, 1, 0.2, 1, 1e-4, 1, 0.4};
  std::mt19937_64 engine(2);
  std::normal_distribution<double> normal;
  std::vector<double> draws;
  for (int i = 0; i < 300000; ++i) {
    const std::size_t at = 2 * static_cast<std::size_t>(i % 4) + 1;
    const double f = p.mean[at] + std::sqrt(p.variance[at]) * normal(engine);
    draws.push_back(p.rate * sigma(f) * std::exp(std::sqrt(p.level_variance[at]) * normal(engine)));
  }
  expect_quantiles(p, draws);
}

TEST(IntensityQuantile, is_right_where_f_is_wide_and_the_level_is_not) {
  RealisationPrediction p;
  p.rate = 2;
  for (const double sd : {1.0, 3.0, 8.0})
    for (const double level_sd : {0.02, 0.3, 1.0}) {
      p.mean = {5};
      p.variance = {sd * sd};
      p.level_variance = {level_sd * level_sd};
      for (const double q : {0.05, 0.5, 0.95}) {
        const double x = std::log(model::intensity_quantile(p, 0, 1, q) / p.rate);
        double below = 0, weights = 0;
        for (double z = -9; z <= 9; z += 1e-4) {
          const double f = p.mean[0] + sd * z, weight = std::exp(-0.5 * z * z);
          const double log_sigma = std::min(f, 0.0) - std::log1p(std::exp(-std::abs(f)));
          below += weight * 0.5 * std::erfc((log_sigma - x) / (level_sd * std::numbers::sqrt2));
          weights += weight;
        }
        EXPECT_NEAR(below / weights, q, 3e-4) << sd << ' ' << level_sd;
      }
    }
}

}  // namespace
