// Quantiles of the intensity from the moments of a prediction.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "model/prediction.hpp"

namespace fedpp::model {

namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double log_sigmoid(double f) { return std::min(f, 0.0) - std::log1p(std::exp(-std::abs(f))); }

/// log(lambda / m) at one point given one sample of the weights: log sigma(f) + level, independent.
struct LogIntensity {
  double mean, sd;  ///< of f
  double level_sd;

  /// P(log sigma(f) <= x)
  double sigmoid_below(double x) const {
    if (x >= 0) return 1;
    const double f = x - std::log(-std::expm1(x));  // logit
    return sd > 0 ? normal_cdf((f - mean) / sd) : (f >= mean ? 1.0 : 0.0);
  }

  /// d log sigma(f) / df where log sigma(f) = x.
  static double slope(double x) { return x < 0 ? -std::expm1(x) : 0; }

  /// P(log sigma(f) + level <= x): one of the two by the trapezoid rule, the other in closed form. The rule's steps
  /// follow how fast the other's distribution function changes, in sds of the first, where it does at all: within three
  /// sds of the level of x. The one with the longer steps is taken.
  double below(double x) const {
    if (!(level_sd > 0)) return sigmoid_below(x);
    constexpr double kEnd = 6, kMost = 0.5, kLeast = 0.02;
    const double by_f = level_sd / (sd * slope(x - 3 * level_sd));
    const double by_level = sd * slope(x + 3 * level_sd) / level_sd;
    const double step = std::clamp(0.5 * std::max(by_f, by_level), kLeast, kMost);
    double sum = 0, weights = 0;
    for (double z = -kEnd; z <= kEnd; z += step) {
      const double weight = std::exp(-0.5 * z * z);
      weights += weight;
      sum += weight * (by_level > by_f ? sigmoid_below(x - level_sd * z)
                                       : normal_cdf((x - log_sigmoid(mean + sd * z)) / level_sd));
    }
    return sum / weights;
  }
};

}  // namespace

double intensity_quantile(const RealisationPrediction& prediction, std::size_t point, std::size_t points, double q) {
  std::vector<LogIntensity> samples;
  double low = 1e300, high = -1e300;
  for (std::size_t at = point; at < prediction.mean.size(); at += points) {
    const double mean = prediction.mean[at], sd = std::sqrt(prediction.variance[at]);
    const double level_sd = prediction.level_variance.empty() ? 0 : std::sqrt(prediction.level_variance[at]);
    samples.push_back({mean, sd, level_sd});
    low = std::min(low, log_sigmoid(mean - 10 * sd) - 10 * level_sd - 1e-9);
    high = std::max(high, log_sigmoid(mean + 10 * sd) + 10 * level_sd + 1e-9);
  }
  // Regula falsi with Illinois' halving, every third step a bisection: ten evaluations where the samples agree.
  // A hundred bisections end any search, of a model, too, whose weights have left all bounds.
  constexpr double kTolerance = 1e-10;
  constexpr int kMostSteps = 300;
  double at_low = -q, at_high = 1 - q;
  for (int step = 0, side = 0; high - low > kTolerance * std::max(1.0, std::abs(low)) && step < kMostSteps; ++step) {
    const double x = step % 3 == 0 ? 0.5 * (low + high) : (low * at_high - high * at_low) / (at_high - at_low);
    double excess = 0;
    for (const auto& sample : samples) excess += sample.below(x);
    excess = excess / static_cast<double>(samples.size()) - q;
    if (std::abs(excess) < 1e-12) {
      low = high = x;
    } else if (excess < 0) {
      if (side < 0) at_high *= 0.5;
      low = x, at_low = excess, side = -1;
    } else {
      if (side > 0) at_low *= 0.5;
      high = x, at_high = excess, side = 1;
    }
  }
  return prediction.rate * std::exp(0.5 * (low + high));
}

}  // namespace fedpp::model
