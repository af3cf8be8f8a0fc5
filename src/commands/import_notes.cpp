#include "commands/import_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/counted.hpp"
#include "data/intervals.hpp"

namespace fedpp::commands {
namespace {

/// How many of the times no window holds.
std::int64_t count_outside(const std::vector<double>& times, const std::vector<io::Window>& windows) {
  std::vector<data::Interval> observed;
  for (const io::Window& window : windows) observed.push_back({window.start, window.end});
  observed = data::join(std::move(observed));
  return std::count_if(times.begin(), times.end(), [&](double time) { return !data::holds(observed, time); });
}

/// How many events have the time and the type of an earlier one.
std::int64_t count_repeated(const io::SequenceRecord& sequence) {
  const auto& times = sequence.times;
  std::int64_t repeated = 0;
  std::set<int> types;  // at one time
  for (std::size_t j = 0; j < times.size(); ++j) {
    if (j > 0 && times[j] != times[j - 1]) types.clear();
    repeated += types.insert(sequence.types[j]).second ? 0 : 1;
  }
  return repeated;
}

}  // namespace

void ImportNotes::add(const std::string& where, const io::SequenceRecord& sequence,
                      const std::vector<io::Window>& windows) {
  if (!windows.empty())
    outside_ += count_outside(sequence.times, windows);
  else if (io::is_timeless(sequence) && timeless_++ == 0)
    first_timeless_ = where;
  const std::int64_t repeated = count_repeated(sequence);
  if (repeated > 0 && repeated_ == 0) first_repeated_ = where;
  repeated_ += repeated;
}

std::string ImportNotes::outside() const {
  return outside_ > 0 ? fmt::format("; {} of them outside the windows, which training leaves out", outside_) : "";
}

std::string ImportNotes::lines() const {
  std::string lines;
  if (timeless_ > 0)
    lines += fmt::format(
        "{}: no time passes in this sequence of several events{}: the protocol 'chronological' leaves such ones out "
        "unless --windows says how long they were observed\n",
        first_timeless_, timeless_ > 1 ? fmt::format(", nor in {} more", timeless_ - 1) : "");
  if (repeated_ > 0)
    lines += fmt::format(
        "{}: in this sequence the first of {} with the time and type of another in {} sequence: kept, as events of a "
        "coarse clock are; rows that a table holds twice are to be taken out of it before\n",
        first_repeated_, config::counted(repeated_, "event"), repeated_ > 1 ? "their" : "its");
  return lines;
}

}  // namespace fedpp::commands
