// What 'fedpp import' says of events that it stores and training will not use.
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
  /// "" or a line about sequences in which no time passes.
  std::string timeless() const;
  /// "" or a line about events that repeat an earlier one.
  std::string repeated() const;

 private:
  std::int64_t outside_ = 0, timeless_ = 0, repeated_ = 0;
  std::string first_timeless_, first_repeated_;
};

}  // namespace fedpp::commands
