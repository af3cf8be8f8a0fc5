// Events and windows from CSV.
#include <fmt/format.h>

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
  SequenceRecord record;
  std::int64_t handed_out = 0;
  while (table.next()) {
    const std::int64_t id = table.integer(kSequence);
    if (record.times.empty() || id != record.id) {
      if (!record.times.empty()) {
        callback(record);
        if (++handed_out == max_sequences) return;
      }
      contiguity.begin(table, id);
      record.id = id;
      record.first_line = table.line_number();
      record.times.clear();
      record.types.clear();
    }
    const double time = table.number(kTime);
    require(table, id, time_problem(time, record.times.empty() ? nullptr : &record.times.back()));
    std::int64_t type = 0;
    if (typed) {
      type = table.integer(kType);
      require(table, id, type_problem(type));
    }
    record.times.push_back(time);
    record.types.push_back(static_cast<int>(type));
  }
  if (record.times.empty()) throw reader.error("the file has a header but no events");
  callback(record);
}

std::vector<SequenceWindows> read_csv_windows(LineReader& reader) {
  enum Column : std::size_t { kSequence, kStart, kEnd };
  CsvTable table(reader, {"sequence", "start", "end"}, {}, kOtherTables);
  ContiguityCheck contiguity;
  std::vector<SequenceWindows> all;
  while (table.next()) {
    const std::int64_t id = table.integer(kSequence);
    if (all.empty() || id != all.back().id) {
      contiguity.begin(table, id);
      all.push_back({id, {}, table.line_number()});
    }
    std::vector<Window>& windows = all.back().windows;
    const Window window{table.number(kStart), table.number(kEnd)};
    require(table, id, window_problem(window, windows.empty() ? nullptr : &windows.back()));
    windows.push_back(window);
  }
  if (all.empty()) throw reader.error("the file has a header but no windows");
  return all;
}

}  // namespace fedpp::io
