#include "evaluation/step_rate.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fedpp::evaluation {

Bins::Bins(data::Interval range, int count) : range_(range), count_(count), width_((range.end - range.start) / count) {
  assert(range.start < range.end && count >= 1);
}

double Bins::edge(int b) const { return b == count_ ? range_.end : range_.start + b * width_; }

int Bins::bin(double t) const {
  const double position = (t - range_.start) / (range_.end - range_.start) * count_;
  if (!(position > 0)) return 0;
  return position >= count_ ? count_ - 1 : static_cast<int>(position);
}

void Bins::add(const std::vector<double>& events, const std::vector<data::Interval>& windows, double origin,
               BinnedEvents& into) const {
  into.counts.resize(count_);
  into.exposure.resize(count_);
  for (double t : events) into.counts[bin(t - origin)] += 1;
  for (const data::Interval& window : windows) {
    const double start = std::max(window.start - origin, range_.start);
    const double end = std::min(window.end - origin, range_.end);
    if (!(start < end)) continue;
    for (int b = bin(start), last = bin(end); b <= last; ++b) {
      into.exposure[b] += std::max(0.0, std::min(end, edge(b + 1)) - std::max(start, edge(b)));
    }
  }
}

namespace {

/// Total events, floored at one half, by total exposure.
double homogeneous_rate(const BinnedEvents& seen) {
  const double events = std::accumulate(seen.counts.begin(), seen.counts.end(), 0.0);
  const double time = std::accumulate(seen.exposure.begin(), seen.exposure.end(), 0.0);
  assert(time > 0);
  return std::max(events, 0.5) / time;
}

}  // namespace

StepRate floored_rate(const Bins& bins, const BinnedEvents& seen) {
  const double homogeneous = homogeneous_rate(seen);
  StepRate result{bins, std::vector<double>(bins.count()), seen.exposure};
  for (int b = 0; b < bins.count(); ++b) {
    result.rate[b] = seen.exposure[b] > 0 ? std::max(seen.counts[b], 0.5) / seen.exposure[b] : homogeneous;
  }
  return result;
}

StepRate shrunken_rate(const Bins& bins, const BinnedEvents& seen) {
  const double homogeneous = homogeneous_rate(seen);
  StepRate result{bins, std::vector<double>(bins.count()), seen.exposure};
  for (int b = 0; b < bins.count(); ++b) {
    result.rate[b] = (seen.counts[b] + 1) / (seen.exposure[b] + 1 / homogeneous);
  }
  return result;
}

}  // namespace fedpp::evaluation
