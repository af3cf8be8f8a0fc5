#include "bayesian_optimisation/optimiser.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "bayesian_optimisation/gaussian_process.hpp"

namespace fedpp::bayesian_optimisation {

namespace {

constexpr std::size_t kInitial = 5;      // points
constexpr std::size_t kCandidates = 81;  // points of [low, high] at which the acquisitions are compared
constexpr double kConfidence = 2;        // the bound is mean + kConfidence sd

}  // namespace

double expected_improvement(double mean, double sd, double best) {
  const double gain = mean - best;
  if (!(sd > 0)) return std::max(gain, 0.0);
  const double z = gain / sd;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return gain * 0.5 * std::erfc(-z / std::numbers::sqrt2) + sd * density;
}

Optimiser::Optimiser(double low, double high) : low_(low), high_(high) { assert(low < high); }

double Optimiser::propose(double uniform) {
  assert(points_.size() == values_.size() && "the last point's value has not been told");
  const double width = high_ - low_;
  if (points_.size() < kInitial) {
    const auto k = static_cast<double>(points_.size()), last = static_cast<double>(kInitial - 1);
    points_.push_back(k < last ? high_ - width * k / last : low_);
    return points_.back();
  }
  // 1. Values in standard deviations, for the rewards.
  const auto n = static_cast<double>(values_.size());
  double mean = 0, square = 0;
  for (const double y : values_) mean += y / n;
  for (const double y : values_) square += (y - mean) * (y - mean) / n;
  const double unit = square > 0 ? std::sqrt(square) : 1;
  std::vector<double> y;
  for (const double value : values_) y.push_back((value - mean) / unit);
  const GaussianProcess process(points_, y, width);
  // 2. The last nominees' rewards: the mean that the process now expects at their points.
  for (std::size_t k = 0; k < nominees_.size(); ++k) gains_[k] += process.at(nominees_[k]).mean;
  // 3. Each acquisition's best candidate that has not been evaluated.
  double best[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  nominees_.assign(2, points_[best_]);
  for (std::size_t c = 0; c < kCandidates; ++c) {
    const double x = low_ + width * static_cast<double>(c) / static_cast<double>(kCandidates - 1);
    const bool known =
        std::any_of(points_.begin(), points_.end(), [&](double other) { return std::fabs(x - other) < 1e-9 * width; });
    if (known) continue;
    const auto f = process.at(x);
    const double worth[2] = {expected_improvement(f.mean, f.sd, y[best_]), f.mean + kConfidence * f.sd};
    for (int k = 0; k < 2; ++k)
      if (worth[k] > best[k]) {
        best[k] = worth[k];
        nominees_[k] = x;
      }
  }
  // 4. One of the two, by the softmax of the gains (rewards are in standard deviations of the values).
  const double odds = std::exp(gains_[1] - gains_[0]);
  points_.push_back(uniform < 1 / (1 + odds) ? nominees_[0] : nominees_[1]);
  return points_.back();
}

void Optimiser::observe(double value) {
  assert(points_.size() == values_.size() + 1);
  const bool finite = std::isfinite(value);
  if (!finite) value = values_.empty() ? 0 : *std::min_element(values_.begin(), values_.end());
  values_.push_back(value);
  if (finite && !finite_) {  // what came before counts as this one
    std::fill(values_.begin(), values_.end(), value);
    best_ = values_.size() - 1;
    finite_ = true;
  }
  if (finite && value > values_[best_]) best_ = values_.size() - 1;
}

}  // namespace fedpp::bayesian_optimisation
