// Sets of time as lists of intervals.
#pragma once

#include <vector>

#include "data/client_data.hpp"

namespace fedpp::data {

/// The union as disjoint, increasing intervals that do not touch.
std::vector<Interval> join(std::vector<Interval> intervals);

/// The parts of disjoint, increasing intervals within [start, end]; parts without length go.
std::vector<Interval> clip(const std::vector<Interval>& intervals, double start, double end);

/// Whether one of the disjoint, increasing, closed intervals holds the time.
bool holds(const std::vector<Interval>& intervals, double time);

}  // namespace fedpp::data
