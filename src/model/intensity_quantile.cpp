// Quantiles of the intensity from the moments of a prediction.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "model/prediction.hpp"

namespace fedpp::model {

namespace {

double log_sigmoid(double f) { return std::min(f, 0.0) - std::log1p(std::exp(-std::abs(f))); }

/// A distribution function and its density at one place.
struct Below {
  double probability = 0, density = 0;
  void add(double weight, const Below& other) {
    probability += weight * other.probability;
    density += weight * other.density;
  }
};

/// Of N(0, sd^2) at x; `slope` of what x is a function of.
Below normal_below(double x, double sd, double slope = 1) {
  if (!(sd > 0)) return {x >= 0 ? 1.0 : 0.0, 0};
  const double z = x / sd;
  return {0.5 * std::erfc(-z / std::numbers::sqrt2),
          std::numbers::inv_sqrtpi / std::numbers::sqrt2 * std::exp(-0.5 * z * z) * slope / sd};
}

/// The trapezoid rule for an expectation under N(0, 1), to six sds.
struct NormalRule {
  std::vector<double> nodes, weights;  ///< the weights add up to 1
  explicit NormalRule(double step) {
    constexpr int kEnd = 6;
    double sum = 0;
    const int half = static_cast<int>(kEnd / step);
    for (int k = -half; k <= half; ++k) {
      nodes.push_back(step * k);
      weights.push_back(std::exp(-0.5 * nodes.back() * nodes.back()));
      sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
  }
};

/// The rule whose steps are 0.5, 0.25, ... and not above `step`; the last has 1/64.
const NormalRule& normal_rule(double step) {
  static const std::array<NormalRule, 6> rules{NormalRule(1 / 2.),  NormalRule(1 / 4.),  NormalRule(1 / 8.),
                                               NormalRule(1 / 16.), NormalRule(1 / 32.), NormalRule(1 / 64.)};
  std::size_t k = 0;
  for (double steps = 0.5; k + 1 < rules.size() && step < steps; steps *= 0.5) ++k;
  return rules[k];
}

/// log(lambda / m) at one point given one sample of the weights: log sigma(f) + level, independent.
struct LogIntensity {
  double mean, sd;  ///< of f
  double level_sd;

  /// Of log sigma(f) at x.
  Below sigmoid_below(double x) const {
    if (x >= 0) return {1, 0};
    const double slope = -std::expm1(x);                             // d log sigma(f) / df where log sigma(f) = x
    return normal_below(x - std::log(slope) - mean, sd, 1 / slope);  // f = logit
  }

  /// d log sigma(f) / df where log sigma(f) = x.
  static double slope(double x) { return x < 0 ? -std::expm1(x) : 0; }

  /// Of log sigma(f) + level at x: one of the two by the trapezoid rule, the other in closed form. The rule's steps
  /// follow how fast the other's distribution function changes, in sds of the first, where it does at all: within three
  /// sds of the level of x. The one with the longer steps is taken.
  Below below(double x) const {
    if (!(level_sd > 0)) return sigmoid_below(x);
    const double by_f = level_sd / (sd * slope(x - 3 * level_sd));
    const double by_level = sd * slope(x + 3 * level_sd) / level_sd;
    const auto& [nodes, weights] = normal_rule(0.5 * std::max(by_f, by_level));
    Below sum;
    for (std::size_t k = 0; k < nodes.size(); ++k)
      sum.add(weights[k], by_level > by_f ? sigmoid_below(x - level_sd * nodes[k])
                                          : normal_below(x - log_sigmoid(mean + sd * nodes[k]), level_sd));
    return sum;
  }
};

/// The mixture of the samples of the weights.
class Mixture {
 public:
  Mixture(const RealisationPrediction& prediction, std::size_t point, std::size_t points) {
    for (std::size_t at = point; at < prediction.mean.size(); at += points) {
      const double level = prediction.level_variance.empty() ? 0 : prediction.level_variance[at];
      samples_.push_back({prediction.mean[at], std::sqrt(prediction.variance[at]), std::sqrt(level)});
    }
  }

  Below below(double x) const {
    Below sum;
    for (const auto& sample : samples_) sum.add(1 / static_cast<double>(samples_.size()), sample.below(x));
    return sum;
  }

  /// Newton's method from the quantile of a distribution of the same mean and variance, with bisections where it leaves
  /// the bracket or does not halve its step. Bisections end any search, of a model, too, whose weights have left all
  /// bounds. A step within the tolerance ends it at once if the probability is met: rounding may put it on the
  /// bracket's end, which is x. (Not by the step alone: beside a jump the density is without bound.)
  double quantile(double q) const {
    constexpr double kTolerance = 1e-10;
    constexpr double kMet = 1e-6;
    constexpr int kMostSteps = 300;
    double low = 1e300, high = -1e300, sum = 0, squares = 0;
    for (const auto& s : samples_) {
      const double reach = 10 * s.level_sd + 1e-9;
      low = std::min(low, log_sigmoid(s.mean - 10 * s.sd) - reach);
      high = std::max(high, log_sigmoid(s.mean + 10 * s.sd) + reach);
      const double centre = log_sigmoid(s.mean), by_f = LogIntensity::slope(centre) * s.sd;
      sum += centre;
      squares += centre * centre + by_f * by_f + s.level_sd * s.level_sd;
    }
    const auto n = static_cast<double>(samples_.size());
    const double sd = std::sqrt(std::max(squares / n - (sum / n) * (sum / n), 0.0));
    const double logistic = std::numbers::sqrt3 / std::numbers::pi * std::log(q / (1 - q));  // quantile, of variance 1
    double x = std::clamp(sum / n + sd * logistic, std::min(low, high), high), last = high - low;
    for (int step = 0; step < kMostSteps && last > kTolerance * std::max(1.0, std::abs(x)); ++step) {
      const auto [probability, density] = below(x);
      (probability < q ? low : high) = x;
      double next = x - (probability - q) / density;
      if (std::abs(probability - q) < kMet && std::abs(next - x) <= kTolerance * std::max(1.0, std::abs(x)))
        return next;
      if (!(low < next && next < high && std::abs(next - x) < 0.5 * last)) next = 0.5 * (low + high);
      last = std::abs(next - x);
      x = next;
    }
    return x;
  }

 private:
  std::vector<LogIntensity> samples_;
};

}  // namespace

double intensity_quantile(const RealisationPrediction& prediction, std::size_t point, std::size_t points, double q) {
  return prediction.rate * std::exp(Mixture(prediction, point, points).quantile(q));
}

}  // namespace fedpp::model
