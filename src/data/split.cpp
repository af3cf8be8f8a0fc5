#include "data/split.hpp"

#include <algorithm>

#include "data/intervals.hpp"

namespace fedpp::data {
namespace {

/// The first index at or after `count` at which a new time begins.
std::size_t after_ties(const std::vector<double>& times, std::size_t count) {
  while (count > 0 && count < times.size() && times[count] == times[count - 1]) ++count;
  return count;
}

}  // namespace

bool cut_chronologically(ClientSequence& sequence, bool has_windows, const std::vector<Interval>& windows,
                         std::int64_t& dropped, bool at_event) {
  std::vector<double> counted;
  std::vector<Interval> observed;
  if (has_windows) {
    for (double time : sequence.times) {
      if (holds(windows, time))
        counted.push_back(time);
      else
        ++dropped;
    }
    observed = windows;
  } else if (sequence.times.size() > 1) {
    counted.assign(sequence.times.begin() + 1, sequence.times.end());
    if (sequence.times.front() < sequence.times.back()) observed = {{sequence.times.front(), sequence.times.back()}};
  }
  if (observed.empty()) return false;
  const std::size_t n = counted.size();
  const std::size_t trained = after_ties(counted, n * 6 / 10);
  const std::size_t validated = after_ties(counted, std::max(trained, n * 8 / 10));
  if (trained < kFewestTrainingEvents) return false;

  const double start = observed.front().start, end = observed.back().end;
  auto boundary = [&](std::size_t i) {
    return i < n ? counted[i - 1] + (at_event ? 0.0 : 0.5) * (counted[i] - counted[i - 1]) : end;
  };
  const double first = boundary(trained), second = boundary(validated);
  if (clip(observed, start, first).empty()) return false;
  sequence.origin = start;
  sequence.events[kTrain].assign(counted.begin(), counted.begin() + trained);
  sequence.events[kValidation].assign(counted.begin() + trained, counted.begin() + validated);
  sequence.events[kTest].assign(counted.begin() + validated, counted.end());
  sequence.windows[kTrain] = clip(observed, start, first);
  sequence.windows[kValidation] = clip(observed, first, second);
  sequence.windows[kTest] = clip(observed, second, end);
  return true;
}

void assign_whole(ClientSequence& sequence, Split split, bool has_windows, const std::vector<Interval>& windows,
                  Interval common, std::int64_t& dropped) {
  sequence.windows[split] = has_windows ? clip(windows, common.start, common.end) : std::vector<Interval>{common};
  sequence.origin = sequence.windows[split].empty() ? common.start : sequence.windows[split].front().start;
  for (double time : sequence.times) {
    if (holds(sequence.windows[split], time))
      sequence.events[split].push_back(time);
    else
      ++dropped;
  }
}

}  // namespace fedpp::data
