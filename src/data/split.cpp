#include "data/split.hpp"

#include <algorithm>

#include "data/intervals.hpp"

namespace fedpp::data {
namespace {

/// A share of n, rounded down. That 0.7 + 0.1 is a little less than 0.8 costs no event.
std::size_t count_of(std::size_t n, double share) {
  return static_cast<std::size_t>(static_cast<double>(n) * share * (1 + 1e-12));
}

/// The first index at or after `count` at which a new time begins.
std::size_t after_ties(const std::vector<double>& times, std::size_t count) {
  while (count > 0 && count < times.size() && times[count] == times[count - 1]) ++count;
  return count;
}

/// The time after a share of the observed time.
double after_share(const std::vector<Interval>& observed, double share) {
  double rest = 0;
  for (const Interval& window : observed) rest += share * (window.end - window.start);
  for (const Interval& window : observed) {
    if (rest <= window.end - window.start) return window.start + rest;
    rest -= window.end - window.start;
  }
  return observed.back().end;
}

}  // namespace

bool cut_chronologically(ClientSequence& sequence, bool has_windows, const std::vector<Interval>& windows,
                         std::int64_t& outside, const Cut& cut) {
  std::vector<double> counted;
  std::vector<Interval> observed;
  if (has_windows) {
    for (double time : sequence.times) {
      if (holds(windows, time))
        counted.push_back(time);
      else
        ++outside;
    }
    observed = windows;
  } else if (sequence.times.size() > 1) {
    counted.assign(sequence.times.begin() + 1, sequence.times.end());
    if (sequence.times.front() < sequence.times.back()) observed = {{sequence.times.front(), sequence.times.back()}};
  }
  if (observed.empty()) return false;
  const double start = observed.front().start, end = observed.back().end;
  const std::size_t n = counted.size();
  std::size_t trained, validated;  // so many events in training, and in training and validation
  double first, second;            // where windows meet
  if (cut.at == SplitAt::kTime) {
    first = after_share(observed, cut.training);
    second = after_share(observed, cut.training + cut.validation);
    const auto until = [&](double time) {
      return static_cast<std::size_t>(std::upper_bound(counted.begin(), counted.end(), time) - counted.begin());
    };
    trained = until(first);
    validated = until(second);
  } else {
    trained = after_ties(counted, count_of(n, cut.training));
    validated = after_ties(counted, std::max(trained, count_of(n, cut.training + cut.validation)));
    const auto boundary = [&](std::size_t i) {
      if (i == 0 || i == n) return end;
      return counted[i - 1] + (cut.at == SplitAt::kEvent ? 0.0 : 0.5) * (counted[i] - counted[i - 1]);
    };
    first = boundary(trained);
    second = boundary(validated);
  }
  const bool any_number = cut.at == SplitAt::kTime && has_windows;
  if (!any_number && trained < kFewestTrainingEvents) return false;
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
                  Interval common, std::int64_t& outside) {
  sequence.windows[split] = has_windows ? clip(windows, common.start, common.end) : std::vector<Interval>{common};
  sequence.origin = sequence.windows[split].empty() ? common.start : sequence.windows[split].front().start;
  for (double time : sequence.times) {
    if (holds(sequence.windows[split], time))
      sequence.events[split].push_back(time);
    else
      ++outside;
  }
}

}  // namespace fedpp::data
