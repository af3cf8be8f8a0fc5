// What windows say of the sequences of a file, in numbers.
#pragma once

#include <cstdint>
#include <span>

#include "io/event_reader.hpp"

namespace fedpp::io {

struct WindowCounts {
  std::int64_t sequences = 0;  ///< that have windows
  std::int64_t empty = 0;      ///< of these, without an event
  std::int64_t gaps = 0;       ///< of time between two windows of a sequence
  std::int64_t outside = 0;    ///< events of these sequences that none of their windows holds; both its ends are in it
  double observed = 0;         ///< length of all windows

  /// \param times increasing; \param windows increasing and disjoint; none: the sequence has none
  void add(std::span<const double> times, std::span<const Window> windows);
};

}  // namespace fedpp::io
