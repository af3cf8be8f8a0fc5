#include "data/source_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "config/error.hpp"
#include "data/intervals.hpp"
#include "io/event_reader.hpp"
#include "io/suffix.hpp"

namespace fedpp::data {
namespace {

/// The windows of a file by sequence, each with its place in the table.
struct WindowsTable {
  std::vector<io::SequenceWindows> rows;
  std::unordered_map<std::int64_t, std::size_t> by_id;
  std::vector<bool> used;

  explicit WindowsTable(const Source& source) {
    if (!source.windows.empty())
      rows = io::read_windows(source.windows);
    else if (io::is_hdf5(source.path))
      rows = io::read_windows(source.path);
    used.assign(rows.size(), false);
    for (std::size_t i = 0; i < rows.size(); ++i) by_id.emplace(rows[i].id, i);
  }
};

void set_windows(RawSequence& raw, const io::SequenceWindows& row, double origin) {
  raw.has_windows = true;
  for (const io::Window& window : row.windows) raw.windows.push_back({window.start - origin, window.end - origin});
  raw.windows = join(std::move(raw.windows));
}

[[noreturn]] void refuse_without_windows(const Source& source, const io::SequenceRecord& record) {
  if (source.windows.empty())
    throw UserError(
        fmt::format("{}: sequence {} has no windows, but others of the file have: import it again with those of all "
                    "its sequences in one table (--windows)",
                    source.path, record.id));
  throw UserError(fmt::format(
      "{}{}: sequence {} has no row in the windows table {}: add when it was observed "
      "(sequence,start,end), or name no table in data.windows",
      source.path, record.first_line > 0 ? fmt::format(":{}", record.first_line) : "", record.id, source.windows));
}

}  // namespace

FileMeaning read_meaning(const std::string& path) try {
  if (!io::is_hdf5(path)) return {};
  const io::SequenceFileReader file(path);
  return {file.names(), file.time_unit()};
} catch (const io::Error& error) {
  throw UserError(error.what());
}

void read_source(const Source& source, const config::Data& options,
                 const std::function<void(RawSequence&)>& callback) try {
  WindowsTable table(source);
  const double origin = options.drop ? options.drop_before : 0.0;
  auto left_out = options.leave_out_types;
  std::sort(left_out.begin(), left_out.end());
  std::int64_t position = 0;

  auto deliver = [&](RawSequence& raw) {
    if (options.drop) raw.windows = clip(raw.windows, 0.0, std::numeric_limits<double>::infinity());
    raw.position = position++;
    callback(raw);
  };
  io::read_sequences(
      source.path,
      [&](io::SequenceRecord& record) {
        RawSequence raw;
        raw.id = record.id;
        raw.client = record.client;
        raw.name = record.name;
        for (std::size_t i = 0; i < record.times.size(); ++i) {
          const int type = record.types[i];
          if (std::binary_search(left_out.begin(), left_out.end(), type)) continue;
          if (raw.only_type == RawSequence::kNoEvents) raw.only_type = type;
          if (raw.only_type != type) raw.only_type = RawSequence::kSeveralTypes;
          if (options.drop && record.times[i] < origin) {
            ++raw.dropped;
            continue;
          }
          raw.times.push_back(record.times[i] - origin);
          raw.types.push_back(type);
        }
        if (!table.rows.empty()) {
          const auto row = table.by_id.find(record.id);
          if (row == table.by_id.end()) refuse_without_windows(source, record);
          table.used[row->second] = true;
          set_windows(raw, table.rows[row->second], origin);
        }
        if (!record.times.empty() && raw.only_type == RawSequence::kNoEvents)
          ++position;
        else
          deliver(raw);
      },
      options.max_sequences);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (options.max_sequences > 0 && position >= options.max_sequences) break;
    if (table.used[i]) continue;
    RawSequence raw;
    raw.id = table.rows[i].id;
    set_windows(raw, table.rows[i], origin);
    deliver(raw);
  }
} catch (const io::Error& error) {
  throw UserError(error.what());
}

}  // namespace fedpp::data
