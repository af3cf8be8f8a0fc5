#include "evaluation/calibration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fedpp::evaluation {
namespace {

/// Times that differ by less than this share of a stream's span are equal but for rounding: where sequences lie over
/// each other, each time has lost its own sequence's start, and what was one number may differ in its last bits. (Of
/// times near 1e9, as seconds since 1970, rounding stays below it where a stream lasts seven hours or more.)
constexpr double kEqualTimes = 1e-11;

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

void RescaledIncrements::event_after(double exposure) {
  if (within_ || ends_ == WindowEnds::kByTime) all_.push_back(since_event_ + exposure);
  within_ = true;
  since_event_ = 0;
}

void RescaledIncrements::window_after(double exposure) {
  if (ends_ == WindowEnds::kByTime) since_event_ += exposure;
  within_ = false;
}

void RescaledIncrements::finish() {
  if (since_event_ > 0 && !ends_at_event_) event_after(random_.exponential());
}

void RescaledIncrements::add(const RescalingStream& stream) {
  const std::size_t n = stream.times.size();
  assert(stream.multiplicities.size() == n && stream.cells.size() == n + 1);
  ends_at_event_ = n > 0 && stream.times.back() == stream.span.end;
  const double length = stream.span.end - stream.span.start;
  double resolution = length;  // smallest gap between times that are not equal
  bool tied = std::any_of(stream.multiplicities.begin(), stream.multiplicities.end(), [](double m) { return m > 1; });
  for (std::size_t i = 1; i < n; ++i) {
    const double gap = stream.times[i] - stream.times[i - 1];
    if (gap > kEqualTimes * length)
      resolution = std::min(resolution, gap);
    else
      tied = true;
  }
  if (!tied) {
    for (std::size_t i = 0; i < n; ++i) event_after(stream.cells[i]);
    window_after(stream.cells[n]);
    return;
  }
  std::vector<double> moved;
  for (std::size_t i = 0; i < n; ++i) {
    const double from = std::max(stream.times[i] - resolution / 2, stream.span.start);
    const double to = std::min(stream.times[i] + resolution / 2, stream.span.end);
    const auto copies = static_cast<std::size_t>(stream.multiplicities[i]);
    for (std::size_t copy = 0; copy < copies; ++copy) moved.push_back(from + (to - from) * random_.uniform());
  }
  std::sort(moved.begin(), moved.end());
  const Compensator compensator(stream);
  double before = 0;
  for (const double t : moved) {
    const double now = compensator.at(t);
    event_after(now - before);
    before = now;
  }
  window_after(compensator.at(stream.span.end) - before);
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

}  // namespace fedpp::evaluation
