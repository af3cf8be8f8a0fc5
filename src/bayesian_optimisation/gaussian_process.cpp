#include "bayesian_optimisation/gaussian_process.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fedpp::bayesian_optimisation {

namespace {

constexpr double kLengthscales[] = {0.07, 0.14, 0.28, 0.56, 1.1, 2.2};  // of the width
constexpr double kNoiseRatios[] = {1e-6, 1e-3, 1e-1};

// Some twenty points: plain loops, whose bits depend on nothing else, rather than a LAPACK that may choose its path by
// alignment.

/// Lower factor of a symmetric matrix [n][n] in place; false where it is not positive definite.
bool factorise(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0)) return false;
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  return true;
}

/// L^-1 b.
std::vector<double> forward(const std::vector<double>& factor, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= factor[i * n + k] * b[k];
    b[i] /= factor[i * n + i];
  }
  return b;
}

/// L^-T b.
std::vector<double> backward(const std::vector<double>& factor, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= factor[k * n + i] * b[k];
    b[i] /= factor[i * n + i];
  }
  return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double matern52(double distance, double lengthscale) {
  const double a = std::sqrt(5.0) * std::fabs(distance) / lengthscale;
  return (1 + a + a * a / 3) * std::exp(-a);
}

GaussianProcess::GaussianProcess(std::span<const double> x, std::span<const double> y, double width)
    : x_(x.begin(), x.end()), log_likelihood_(-std::numeric_limits<double>::infinity()) {
  const std::size_t n = x_.size();
  assert(n >= 2 && y.size() == n && width > 0);
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  const double least_variance = std::max(1e-18 * (*high - *low) * (*high - *low), 1e-300);  // y on a line of constants
  for (const double scale : kLengthscales) {
    const double l = scale * width;
    std::vector<double> correlation(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) correlation[i * n + j] = correlation[j * n + i] = matern52(x_[i] - x_[j], l);
    for (const double eta : kNoiseRatios) {
      auto factor = correlation;
      for (std::size_t i = 0; i < n; ++i) factor[i * n + i] += eta;
      if (!factorise(factor, n)) continue;
      const auto ones = forward(factor, std::vector<double>(n, 1.0));
      auto values = forward(factor, std::vector<double>(y.begin(), y.end()));
      const double mean = dot(ones, values) / dot(ones, ones);
      for (std::size_t i = 0; i < n; ++i) values[i] -= mean * ones[i];
      const double variance = std::max(dot(values, values) / static_cast<double>(n), least_variance);
      double log_likelihood = -0.5 * static_cast<double>(n) * std::log(variance);
      for (std::size_t i = 0; i < n; ++i) log_likelihood -= std::log(factor[i * n + i]);
      if (!(log_likelihood > log_likelihood_)) continue;
      log_likelihood_ = log_likelihood;
      lengthscale_ = l;
      noise_ratio_ = eta;
      mean_ = mean;
      variance_ = variance;
      solved_ = backward(factor, std::move(values));
      factor_ = std::move(factor);
    }
  }
}

GaussianProcess::Moments GaussianProcess::at(double x) const {
  std::vector<double> k;
  k.reserve(x_.size());
  for (const double other : x_) k.push_back(matern52(x - other, lengthscale_));
  const double mean = mean_ + dot(k, solved_);
  const auto reduced = forward(factor_, std::move(k));
  return {mean, std::sqrt(variance_ * std::max(1 - dot(reduced, reduced), 0.0))};
}

}  // namespace fedpp::bayesian_optimisation
