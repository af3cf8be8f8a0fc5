// Plain references for the barycentres: straight loops in long double, and the mmd objective as the specification
// writes it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "federation/aggregator.hpp"
#include "federation/gaussian.hpp"

namespace fedpp::federation::reference {

struct Case {
  std::vector<Gaussian> uploads;  // [C]
  std::vector<double> weights;    // [C], not normalised
  std::size_t parameters = 0;

  std::vector<Upload> views() const {
    std::vector<Upload> all;
    for (std::size_t c = 0; c < uploads.size(); ++c) {
      all.push_back({static_cast<std::int64_t>(c), weights[c], uploads[c].mean, uploads[c].sd});
    }
    return all;
  }
  double alpha(std::size_t c) const {
    long double sum = 0;
    for (const double w : weights) sum += w;
    return static_cast<double>(weights[c] / sum);
  }
};

/// Means around `centre` with standard deviation `spread`; sds around `sd`, log-normal.
inline Case random_case(int clients, int parameters, double centre, double spread, double sd, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.1, 3.0);
  Case made;
  made.parameters = parameters;
  for (int c = 0; c < clients; ++c) {
    Gaussian upload;
    for (int p = 0; p < parameters; ++p) {
      upload.mean.push_back(centre + spread * normal(engine));
      upload.sd.push_back(sd * std::exp(0.5 * normal(engine)));
    }
    made.uploads.push_back(upload);
    made.weights.push_back(uniform(engine));
  }
  return made;
}

inline Gaussian barycentre(const Case& input, Divergence rule) {
  Gaussian result;
  for (std::size_t p = 0; p < input.parameters; ++p) {
    long double mean = 0, sd = 0, variance = 0;
    for (std::size_t c = 0; c < input.uploads.size(); ++c) mean += input.alpha(c) * 1.0L * input.uploads[c].mean[p];
    for (std::size_t c = 0; c < input.uploads.size(); ++c) {
      const long double a = input.alpha(c), delta = input.uploads[c].sd[p], u = input.uploads[c].mean[p] - mean;
      sd += a * delta;
      variance += a * (delta * delta + (rule == Divergence::kKl ? u * u : 0));
    }
    result.mean.push_back(static_cast<double>(mean));
    result.sd.push_back(static_cast<double>(rule == Divergence::kW2 ? sd : std::sqrt(variance)));
  }
  return result;
}

inline double mmd_objective(const Case& input, std::size_t p, double mu, double sigma, double d) {
  double sum = 1 / std::sqrt(d * d + 4 * sigma * sigma);
  for (std::size_t c = 0; c < input.uploads.size(); ++c) {
    const double delta = input.uploads[c].sd[p], u = input.uploads[c].mean[p] - mu;
    const double v = d * d + 2 * delta * delta + 2 * sigma * sigma;
    sum -= 2 * input.alpha(c) * std::exp(-u * u / v) / std::sqrt(v);
  }
  return sum;
}

/// Of a test of several rules.
inline std::string name_of(const testing::TestParamInfo<Divergence>& info) {
  return std::string(config::word(info.param));
}

}  // namespace fedpp::federation::reference
