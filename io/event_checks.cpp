#include "io/event_checks.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fedpp::io {

std::string time_problem(double time, const double* previous) {
  if (!std::isfinite(time)) return fmt::format("time {} is not finite; repair or remove the event", time);
  if (previous && time < *previous)
    return fmt::format("time {} comes after {}; sort the events of each sequence by time", time, *previous);
  return {};
}

std::string type_problem(std::int64_t type) {
  if (type < 0) return fmt::format("type {} is negative; number the types from 0", type);
  if (type > kLargestType) return fmt::format("type {} is above {}; number the types from 0", type, kLargestType);
  return {};
}

std::string window_problem(const Window& window, const Window* previous) {
  if (!std::isfinite(window.start) || !std::isfinite(window.end))
    return fmt::format("window [{}, {}] is not finite; give the times of observation", window.start, window.end);
  if (window.start >= window.end)
    return fmt::format("window [{}, {}] has no length; the start must be before the end", window.start, window.end);
  if (previous && window.start < previous->end)
    return fmt::format(
        "window [{}, {}] begins before the end of the preceding one, [{}, {}]; sort and merge the windows of each "
        "sequence",
        window.start, window.end, previous->start, previous->end);
  return {};
}

std::string events_problem(std::span<const double> times, std::span<const int> types) {
  if (times.size() != types.size())
    return fmt::format("there are {} times but {} types; give one type for each time", times.size(), types.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::string problem = time_problem(times[i], i > 0 ? &times[i - 1] : nullptr);
    if (problem.empty()) problem = type_problem(types[i]);
    if (!problem.empty()) return fmt::format("event {}: {}", i + 1, problem);
  }
  return {};
}

std::string windows_problem(std::span<const Window> windows) {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::string problem = window_problem(windows[i], i > 0 ? &windows[i - 1] : nullptr);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace fedpp::io
