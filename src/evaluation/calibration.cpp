#include "evaluation/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fedpp::evaluation {
namespace {

/// A uniform number in (0, 1) keyed by (seed, index): two rounds of a 64-bit mixing function.
double uniform(std::uint64_t seed, std::uint64_t index) {
  const auto mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  };
  return (static_cast<double>(mix(mix(seed) ^ index) >> 11) + 0.5) * 0x1p-53;
}

/// The cumulative compensator at increasing knots, linear in between.
class Compensator {
 public:
  explicit Compensator(const RescalingStream& stream) {
    add(stream.span.start, 0);
    for (std::size_t i = 0; i < stream.times.size(); ++i) add(stream.times[i], stream.cells[i]);
    add(stream.span.end, stream.cells.back());
  }
  double at(double t) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), t);
    if (after == times_.begin()) return 0;
    if (after == times_.end()) return values_.back();
    const std::size_t i = after - times_.begin();
    return values_[i - 1] + (values_[i] - values_[i - 1]) * (t - times_[i - 1]) / (times_[i] - times_[i - 1]);
  }

 private:
  void add(double t, double increment) {
    times_.push_back(t);
    values_.push_back((values_.empty() ? 0 : values_.back()) + increment);
  }
  std::vector<double> times_, values_;
};

}  // namespace

std::vector<double> rescaled_increments(const RescalingStream& stream, std::uint64_t seed) {
  const std::size_t n = stream.times.size();
  assert(stream.multiplicities.size() == n && stream.cells.size() == n + 1);
  std::vector<double> increments;
  const bool tied =
      std::any_of(stream.multiplicities.begin(), stream.multiplicities.end(), [](double m) { return m > 1; });
  if (!tied) {
    for (std::size_t i = 1; i < n; ++i) increments.push_back(stream.cells[i]);
    return increments;
  }
  double resolution = stream.span.end - stream.span.start;
  for (std::size_t i = 1; i < n; ++i) resolution = std::min(resolution, stream.times[i] - stream.times[i - 1]);
  std::vector<double> moved;
  for (std::size_t i = 0; i < n; ++i) {
    const double from = std::max(stream.times[i] - resolution / 2, stream.span.start);
    const double to = std::min(stream.times[i] + resolution / 2, stream.span.end);
    const auto copies = static_cast<std::size_t>(stream.multiplicities[i]);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      moved.push_back(from + (to - from) * uniform(seed, moved.size()));
    }
  }
  std::sort(moved.begin(), moved.end());
  const Compensator compensator(stream);
  for (std::size_t i = 1; i < moved.size(); ++i) {
    increments.push_back(compensator.at(moved[i]) - compensator.at(moved[i - 1]));
  }
  return increments;
}

double ks_distance_from_exponential(std::vector<double> increments) {
  if (increments.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(increments.begin(), increments.end());
  const double n = static_cast<double>(increments.size());
  double distance = 0;
  for (std::size_t i = 0; i < increments.size(); ++i) {
    const double cdf = -std::expm1(-increments[i]), rank = static_cast<double>(i);
    distance = std::max({distance, cdf - rank / n, (rank + 1) / n - cdf});
  }
  return distance;
}

QuantilePairs exponential_quantiles(std::vector<double> increments, std::size_t most) {
  std::sort(increments.begin(), increments.end());
  const std::size_t n = increments.size(), kept = std::min(n, std::max<std::size_t>(most, 2));
  QuantilePairs pairs;
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t i = kept == 1 ? 0 : k * (n - 1) / (kept - 1);
    pairs.observed.push_back(increments[i]);
    pairs.expected.push_back(-std::log1p(-(static_cast<double>(i) + 0.5) / static_cast<double>(n)));
  }
  return pairs;
}

}  // namespace fedpp::evaluation
