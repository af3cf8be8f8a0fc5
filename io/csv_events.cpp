// Events and windows from CSV.
#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "io/csv_table.hpp"
#include "io/event_checks.hpp"
#include "io/event_formats.hpp"
#include "io/shown.hpp"

namespace fedpp::io {

namespace {

constexpr const char* kOtherTables = "; tables with words, dates or other headers: 'fedpp import --columns'";

void require(const CsvTable& table, std::int64_t id, const std::string& problem) {
  if (!problem.empty()) throw table.error(fmt::format("sequence {}: {}", id, problem));
}

/// Finds rows of a sequence that are apart. Holds 16 bytes a sequence.
class ContiguityCheck {
 public:
  /// Notes that a sequence begins on the table's row.
  void begin(const CsvTable& table, std::int64_t id) {
    const auto [known, is_new] = first_line_.emplace(id, table.line_number());
    if (!is_new)
      throw table.error(fmt::format(
          "sequence {} appears again (it began on line {}, others came between); keep the rows of a sequence together",
          id, known->second));
  }

 private:
  std::unordered_map<std::int64_t, std::int64_t> first_line_;
};

}  // namespace

void read_csv_sequences(LineReader& reader, const SequenceCallback& callback, std::int64_t max_sequences) {
  enum Column : std::size_t { kSequence, kTime, kType };
  CsvTable table(reader, {"sequence", "time"}, {"type"}, kOtherTables);
  const bool typed = table.has(kType);
  if (!typed && !table.unknown().empty())
    throw table.error(fmt::format(
        "there is no column 'type' but {}; call it type, or leave only sequence,time for events of one type",
        shown(table.unknown().front())));
  ContiguityCheck contiguity;
  Faults faults;
  SequenceRecord record;
  std::int64_t handed_out = 0;
  bool begun = false, enough = false;
  const auto hand_out = [&] {
    if (!faults.any()) callback(record);
    enough = ++handed_out == max_sequences;
  };
  const auto read_row = [&] {
    if (!table.next()) return false;
    const std::int64_t id = table.integer(kSequence);
    if (!begun || id != record.id) {
      if (begun) hand_out();
      if (enough) return false;
      begun = true;
      record.id = id;
      record.first_line = table.line_number();
      record.times.clear();
      record.types.clear();
      contiguity.begin(table, id);
    }
    const double time = table.number(kTime);
    const std::string problem = time_problem(time, record.times.empty() ? nullptr : &record.times.back());
    if (std::isfinite(time)) record.times.push_back(time);  // of a faulty row, too: the next one is told by it
    require(table, id, problem);
    const std::int64_t type = typed ? table.integer(kType) : 0;
    require(table, id, type_problem(type));
    record.types.push_back(static_cast<int>(type));
    return true;
  };
  faults.read_all(read_row);
  if (!begun) throw reader.error("the file has a header but no events");
  if (!enough) hand_out();
}

std::vector<SequenceWindows> read_csv_windows(LineReader& reader) {
  enum Column : std::size_t { kSequence, kStart, kEnd };
  CsvTable table(reader, {"sequence", "start", "end"}, {}, kOtherTables);
  ContiguityCheck contiguity;
  Faults faults;
  std::vector<SequenceWindows> all;
  const auto read_row = [&] {
    if (!table.next()) return false;
    const std::int64_t id = table.integer(kSequence);
    if (all.empty() || id != all.back().id) {
      all.push_back({id, {}, table.line_number()});
      contiguity.begin(table, id);
    }
    std::vector<Window>& windows = all.back().windows;
    const Window window{table.number(kStart), table.number(kEnd)};
    const std::string problem = window_problem(window, windows.empty() ? nullptr : &windows.back());
    if (std::isfinite(window.start) && std::isfinite(window.end)) windows.push_back(window);  // as times above
    require(table, id, problem);
    return true;
  };
  faults.read_all(read_row);
  if (all.empty()) throw reader.error("the file has a header but no windows");
  return all;
}

}  // namespace fedpp::io
