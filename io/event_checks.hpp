// What makes events and windows legal, said once for all formats. Each function returns what is wrong and its remedy,
// or "".
#pragma once

#include <span>
#include <string>

#include "io/event_reader.hpp"

namespace fedpp::io {

/// A time and its predecessor in the sequence (null for the first).
std::string time_problem(double time, const double* previous);

/// A type as an integer.
std::string type_problem(std::int64_t type);

/// A window and its predecessor in the sequence (null for the first).
std::string window_problem(const Window& window, const Window* previous);

/// All events of a sequence; the answer names the event by its number from 1.
std::string events_problem(std::span<const double> times, std::span<const int> types);

/// All windows of a sequence.
std::string windows_problem(std::span<const Window> windows);

}  // namespace fedpp::io
