#include "commands/import_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "commands/windows_text.hpp"
#include "config/date.hpp"
#include "data/unix_time.hpp"

namespace fedpp::commands {
namespace {

/// Whether a number is a date of a century or two, as 20190301 is.
bool is_compact_date(double time) {
  if (!(time >= 18000101 && time <= 22001231) || time != std::floor(time)) return false;
  const auto number = static_cast<unsigned>(time);
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(number / 10000)),
                                     std::chrono::month(number / 100 % 100), std::chrono::day(number % 100))
      .ok();
}

}  // namespace

void ImportNotes::add(const std::string& where, const io::SequenceRecord& sequence,
                      const std::vector<io::Window>& windows) {
  events_ += static_cast<std::int64_t>(sequence.times.size());
  if (!sequence.times.empty()) {
    first_time_ = std::min(first_time_, sequence.times.front());
    last_time_ = std::max(last_time_, sequence.times.back());
  }
  gaps_.add(sequence.times);
  compact_dates_ += std::count_if(sequence.times.begin(), sequence.times.end(), is_compact_date);
  windows_.add(sequence.times, windows);
  if (windows.empty() && io::is_timeless(sequence) && timeless_++ == 0) first_timeless_ = where;
  const std::int64_t repeated = io::repeated_events(sequence);
  if (repeated > 0 && repeated_ == 0) first_repeated_ = where;
  repeated_ += repeated;
}

std::string ImportNotes::outside() const {
  return windows_.outside > 0
             ? fmt::format("; {} of them outside the windows, which training leaves out", windows_.outside)
             : "";
}

std::string ImportNotes::windows(std::int64_t sequences) const {
  return windows_.sequences > 0 ? fmt::format("windows: {}\n", windows_text(windows_, sequences, time_unit_)) : "";
}

std::string ImportNotes::lines() const { return repeated() + ties() + compact_dates() + unix_times(); }

std::string ImportNotes::ties() const {
  const std::string doubt = gaps_.doubt();
  return doubt.empty() ? "" : doubt + "\n";
}

std::string ImportNotes::dates() const {
  const std::string first = config::date_at(time_origin_, time_unit_, first_time_),
                    last = config::date_at(time_origin_, time_unit_, last_time_);
  return first.empty() || last.empty() ? "" : fmt::format("from {} to {}\n", first, last);
}

std::string ImportNotes::unix_times() const {
  if (!dates().empty()) return "";  // they are dates already
  const std::string doubt = data::doubt_about_numbers(first_time_, last_time_);
  return doubt.empty() ? "" : doubt + "\n";
}

std::string ImportNotes::compact_dates() const {
  if (events_ < 2 || compact_dates_ < events_) return "";
  return "every time looks like a date that is written as one number, as 20190301 is, and was read as that number; write "
         "dates as 2019-03-01, and import the table with --columns\n";
}

std::string ImportNotes::timeless() const {
  if (timeless_ == 0) return "";
  return fmt::format(
      "{}: no time passes in this sequence of several events{}: the protocol 'chronological' leaves such ones out "
      "unless --windows says how long they were observed\n",
      first_timeless_, timeless_ > 1 ? fmt::format(", nor in {} more", timeless_ - 1) : "");
}

std::string ImportNotes::repeated() const {
  if (repeated_ == 0) return "";
  return fmt::format(
      "{}: events that repeat time and type of an earlier one of their sequence: {}, first in the one that begins here; "
      "all are kept, as a coarse clock makes such events, but rows that a table holds twice should be taken out of it\n",
      first_repeated_, repeated_);
}

}  // namespace fedpp::commands
