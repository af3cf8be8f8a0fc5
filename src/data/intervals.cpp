#include "data/intervals.hpp"

#include <algorithm>

namespace fedpp::data {

std::vector<Interval> join(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::vector<Interval> joined;
  for (const Interval& interval : intervals) {
    if (!joined.empty() && interval.start <= joined.back().end)
      joined.back().end = std::max(joined.back().end, interval.end);
    else
      joined.push_back(interval);
  }
  return joined;
}

std::vector<Interval> clip(const std::vector<Interval>& intervals, double start, double end) {
  std::vector<Interval> clipped;
  for (const Interval& interval : intervals) {
    const Interval part{std::max(start, interval.start), std::min(end, interval.end)};
    if (part.start < part.end) clipped.push_back(part);
  }
  return clipped;
}

bool holds(const std::vector<Interval>& intervals, double time) {
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), time,
                                      [](double t, const Interval& interval) { return t < interval.start; });
  return after != intervals.begin() && time <= std::prev(after)->end;
}

}  // namespace fedpp::data
