// The prior term of the clients (gpu/divergence.hpp) against the specification's formulas, differences and closed
// forms.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "gpu/divergence.hpp"

namespace {
using fedpp::gpu::DivergenceTerm;
using Term = std::function<DivergenceTerm(double r, double delta, double mu, double sigma)>;

struct Named {
  const char* name;
  Term term;
  std::function<double(double, double, double, double)> formula;
};

std::vector<Named> divergences() {
  std::vector<Named> all{{"kl", fedpp::gpu::kl_divergence,
                          [](double r, double delta, double mu, double sigma) {
                            const double s2 = sigma * sigma, d2 = delta * delta;
                            return 0.5 * ((mu - r) * (mu - r) / s2 + d2 / s2 - std::log(d2 / s2) - 1);
                          }},
                         {"w2", fedpp::gpu::w2_divergence, [](double r, double delta, double mu, double sigma) {
                            return std::pow(mu - r, 2) + std::pow(sigma - delta, 2);
                          }}};
  for (const double d : {0.1, 1.0, 20.0}) {
    all.push_back({"mmd",
                   [d](double r, double delta, double mu, double sigma) {
                     return fedpp::gpu::mmd_divergence(r, delta, mu, sigma, d);
                   },
                   [d](double r, double delta, double mu, double sigma) {
                     const double v = d * d + 2 * delta * delta + 2 * sigma * sigma;
                     return d / std::sqrt(d * d + 4 * sigma * sigma) + d / std::sqrt(d * d + 4 * delta * delta) -
                            2 * d * std::exp(-(r - mu) * (r - mu) / v) / std::sqrt(v);
                   }});
  }
  return all;
}

TEST(Divergence, values_and_gradients_follow_the_formulas) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal;
  for (const auto& divergence : divergences()) {
    for (int trial = 0; trial < 200; ++trial) {
      const double r = normal(engine), mu = normal(engine);
      const double delta = std::exp(normal(engine)), sigma = std::exp(normal(engine));
      const auto term = divergence.term(r, delta, mu, sigma);
      const double value = divergence.formula(r, delta, mu, sigma);
      EXPECT_NEAR(term.value, value, 1e-13 * (1 + std::fabs(value))) << divergence.name;
      const double h = 1e-5 * delta;
      const auto central = [&](double hr, double hd) {
        return (divergence.formula(r + hr, delta + hd, mu, sigma) - divergence.formula(r - hr, delta - hd, mu, sigma)) /
               (2 * h);
      };
      EXPECT_NEAR(term.d_mean, central(h, 0), 1e-6 * (1 + std::fabs(term.d_mean))) << divergence.name;
      EXPECT_NEAR(term.d_sd, central(0, h), 1e-6 * (1 + std::fabs(term.d_sd))) << divergence.name;
    }
  }
}

TEST(Divergence, vanishes_with_its_gradient_exactly_where_the_gaussians_agree) {
  for (const auto& divergence : divergences()) {
    const auto term = divergence.term(0.3, 0.2, 0.3, 0.2);
    EXPECT_NEAR(term.value, 0, 1e-15) << divergence.name;
    EXPECT_NEAR(term.d_mean, 0, 1e-14) << divergence.name;
    EXPECT_NEAR(term.d_sd, 0, 1e-14) << divergence.name;
    EXPECT_GT(divergence.term(0.3, 0.25, 0.3, 0.2).value, 1e-12) << divergence.name;
    EXPECT_GT(divergence.term(0.31, 0.2, 0.3, 0.2).value, 1e-12) << divergence.name;
  }
}

TEST(Divergence, mmd_is_the_expectation_over_pairs_of_draws) {
  // E k(x,x') + E k(y,y') - 2 E k(x,y), k(x,y) = exp(-(x-y)^2/d^2), by a fine trapezoid rule over the differences.
  const double r = 0.4, delta = 0.3, mu = -0.2, sigma = 0.7, d = 0.9;
  const auto expected_kernel = [&](double mean, double variance) {
    double sum = 0;
    const int n = 4001;
    for (int i = 0; i < n; ++i) {
      const double z = -10 + 20.0 * i / (n - 1), x = mean + std::sqrt(variance) * z;
      sum += std::exp(-x * x / (d * d) - 0.5 * z * z) / std::sqrt(2 * std::acos(-1.0)) * 20.0 / (n - 1);
    }
    return sum;
  };
  const double expected = expected_kernel(0, 2 * delta * delta) + expected_kernel(0, 2 * sigma * sigma) -
                          2 * expected_kernel(r - mu, delta * delta + sigma * sigma);
  EXPECT_NEAR(fedpp::gpu::mmd_divergence(r, delta, mu, sigma, d).value, expected, 1e-12);
}
}  // namespace
