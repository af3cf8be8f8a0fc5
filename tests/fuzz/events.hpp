// What a reader of events promises about all that it accepts.
#pragma once

#include <cmath>
#include <set>

#include "input.hpp"
#include "io/event_reader.hpp"

namespace fedpp::fuzz {

inline void read_events(const std::string& path) {
  std::set<std::int64_t> seen;
  try {
    io::read_sequences(path, [&](io::SequenceRecord& record) {
      promise(seen.insert(record.id).second, "a sequence comes once");
      promise(!record.times.empty() && record.times.size() == record.types.size(), "one type an event");
      for (std::size_t i = 0; i < record.times.size(); ++i) {
        promise(std::isfinite(record.times[i]), "times are finite");
        promise(i == 0 || record.times[i - 1] <= record.times[i], "times do not decrease");
        promise(record.types[i] >= 0 && record.types[i] <= io::kLargestType, "types are in range");
      }
    });
    promise(!seen.empty(), "a file without sequences is refused");
  } catch (const io::Error& error) {
    promise(*error.what() != '\0', "an error has a text");
  }
}

}  // namespace fedpp::fuzz
