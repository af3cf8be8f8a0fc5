// What 'fedpp import' says of events that it stores and training will not use, or not as they were meant.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "data/ties.hpp"
#include "io/event_reader.hpp"
#include "io/window_counts.hpp"

namespace fedpp::commands {

class ImportNotes {
 public:
  /// \param time_unit its name; \param time_origin date of time 0, or ""
  ImportNotes(std::string time_unit, std::string time_origin)
      : time_unit_(std::move(time_unit)), time_origin_(std::move(time_origin)) {}

  /// \param where file and line of the sequence; \param windows when it was observed, empty where that is not known
  void add(const std::string& where, const io::SequenceRecord& sequence, const std::vector<io::Window>& windows);

  /// The same of a sequence without events.
  void add_empty(const std::vector<io::Window>& windows) { windows_.add({}, windows); }

  /// "" or how many events lie outside the windows, to follow the numbers of sequences and events.
  std::string outside() const;
  /// "" or a line about the windows.
  std::string windows(std::int64_t sequences) const;
  /// "" or a line that says from which date to which the events reach.
  std::string dates() const;
  /// "" or a line about sequences in which no time passes.
  std::string timeless() const;
  /// "" or lines about events that repeat an earlier one, ties, dates or Unix time read as numbers.
  std::string lines() const;

 private:
  std::string repeated() const;
  std::string compact_dates() const;
  std::string unix_times() const;
  std::string ties() const;

  std::string time_unit_, time_origin_;
  std::int64_t events_ = 0, compact_dates_ = 0, timeless_ = 0, repeated_ = 0;
  io::WindowCounts windows_;
  data::Gaps gaps_;
  std::string first_timeless_, first_repeated_;
  double first_time_ = std::numeric_limits<double>::infinity(), last_time_ = -first_time_;
};

}  // namespace fedpp::commands
