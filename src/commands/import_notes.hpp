// What 'fedpp import' says of events that it stores and training will not use, or not as they were meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/event_reader.hpp"

namespace fedpp::commands {

class ImportNotes {
 public:
  /// \param where file and line of the sequence; \param windows when it was observed, empty where that is not known
  void add(const std::string& where, const io::SequenceRecord& sequence, const std::vector<io::Window>& windows);

  /// "" or how many events lie outside the windows, to follow the numbers of sequences and events.
  std::string outside() const;
  /// "" or lines about sequences in which no time passes, events that repeat an earlier one, dates read as numbers.
  std::string lines() const;
  /// Of these the one about events that repeat an earlier one.
  std::string repeated() const;

 private:
  std::string timeless() const;
  std::string compact_dates() const;

  std::int64_t events_ = 0, compact_dates_ = 0, outside_ = 0, timeless_ = 0, repeated_ = 0;
  std::string first_timeless_, first_repeated_;
};

}  // namespace fedpp::commands
