#include "data/event_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "config/date.hpp"
#include "config/error.hpp"
#include "config/options.hpp"
#include "data/table_fields.hpp"
#include "data/words.hpp"
#include "io/csv_table.hpp"
#include "io/event_checks.hpp"
#include "io/faults.hpp"
#include "io/number.hpp"
#include "io/shown.hpp"
#include "io/suffix.hpp"

namespace fedpp::data {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

/// The headers that matter, each once, and which of them says what.
struct Headers {
  std::vector<std::string> names;
  std::size_t add(const std::string& header) {
    const auto known = std::find(names.begin(), names.end(), header);
    if (known != names.end()) return static_cast<std::size_t>(known - names.begin());
    names.push_back(header);
    return names.size() - 1;
  }
};

struct Observation {
  Moment start, end;
  std::int64_t line = 0;
};

/// A sequence while the tables are read: numbers are places in Words.
struct Held {
  std::size_t client = 0, name = 0;
  std::size_t file = 0;         ///< where it was first met,
  std::int64_t first_line = 0;  ///< and on which line
  std::vector<Moment> times;
  std::vector<std::size_t> types;
  std::vector<Observation> observed;
};

class EventTableReader {
 public:
  EventTableReader(const std::vector<std::string>& files, const EventColumns& columns, const TimeAxis& axis,
                   const std::vector<std::string>& known_types)
      : files_(files), columns_(columns), axis_(axis), times_(axis.unix_unit) {
    for (const std::string& word : known_types) types_.place(word);
  }

  void read_events(std::size_t file);
  void read_windows(const std::string& path);
  EventTable finish(const std::string& windows);

 private:
  /// Type and client that are not named are those of the first file, if it has them.
  void settle_columns(const io::CsvTable& table, std::size_t type, std::size_t client);
  Held& held(const io::CsvTable& table, std::size_t file, std::string_view client, std::string_view name);
  void set_axis();
  void number_types(io::SequenceNames& names);
  void number_clients(io::SequenceNames& names);
  double time_of(const Moment& moment) const {
    return (static_cast<double>(moment.seconds - origin_) + moment.rest) / unit_;
  }
  io::SequenceRecord record_of(const Held& sequence) const;
  std::vector<io::Window> windows_of(const Held& sequence, const std::string& path) const;

  const std::vector<std::string>& files_;
  EventColumns columns_;
  const TimeAxis& axis_;
  bool settled_ = false;
  TimeReader times_;
  Words types_, clients_, names_;
  std::vector<std::unordered_map<std::size_t, std::size_t>> places_;  // [client][name] of a sequence in held_
  std::vector<Held> held_;
  std::int64_t origin_ = 0;                   // of dates, seconds since 1970
  double unit_ = 1;                           // of dates, seconds
  std::vector<int> type_numbers_;             // [place in types_]
  std::vector<std::int64_t> client_numbers_;  // [place in clients_]
};

void EventTableReader::settle_columns(const io::CsvTable& table, std::size_t type, std::size_t client) {
  if (!columns_.type && table.has(type)) columns_.type = "type";
  if (!columns_.client && table.has(client)) columns_.client = "client";
  settled_ = true;
}

Held& EventTableReader::held(const io::CsvTable& table, std::size_t file, std::string_view client,
                             std::string_view name) {
  const std::size_t owner = columns_.client ? clients_.place(client) : 0;
  if (owner >= places_.size()) places_.resize(owner + 1);
  const auto [known, is_new] = places_[owner].emplace(names_.place(name), held_.size());
  if (is_new) {
    held_.emplace_back();
    held_.back().client = owner;
    held_.back().name = known->first;
    held_.back().file = file;
    held_.back().first_line = table.line_number();
  }
  return held_[known->second];
}

void EventTableReader::read_events(std::size_t file) {
  const std::string& path = files_[file];
  if (io::is_hdf5(path) || io::has_suffix(path, ".json") || io::has_suffix(path, ".jsonl") ||
      io::has_suffix(path, ".json.gz") || io::has_suffix(path, ".jsonl.gz"))
    throw UserError(
        fmt::format("{}: --columns, --like and --unix-time read CSV tables; leave them out for other formats", path));
  io::LineReader lines(path);
  Headers required, optional;
  const std::size_t sequence = required.add(columns_.sequence), time = required.add(columns_.time);
  std::size_t type = columns_.type ? required.add(*columns_.type) : 0;
  std::size_t client = columns_.client ? required.add(*columns_.client) : 0;
  if (!settled_ && !columns_.type) type = required.names.size() + optional.add("type");
  if (!settled_ && !columns_.client) client = required.names.size() + optional.add("client");
  io::CsvTable table(lines, required.names, optional.names);
  if (!settled_) settle_columns(table, type, client);
  bool empty = true;
  io::Faults faults;
  const auto read_row = [&] {
    if (!table.next()) return false;
    empty = false;
    const std::string_view owner = columns_.client ? word_of(table, client, *columns_.client) : "";
    Held& events = held(table, file, owner, word_of(table, sequence, columns_.sequence));
    events.times.push_back(times_.read(table, time, columns_.time));
    events.types.push_back(columns_.type ? types_.place(word_of(table, type, *columns_.type)) : 0);
    return true;
  };
  faults.read_all(read_row);
  if (empty) throw table.error("the file has a header but no events");
}

void EventTableReader::read_windows(const std::string& path) {
  io::LineReader lines(path);
  Headers headers;
  const std::size_t sequence = headers.add(columns_.sequence);
  const std::size_t client = columns_.client ? headers.add(*columns_.client) : 0;
  const std::size_t start = headers.add("start"), end = headers.add("end");
  io::CsvTable table(lines, headers.names);
  io::Faults faults;
  const auto read_row = [&] {
    if (!table.next()) return false;
    const std::string_view owner = columns_.client ? word_of(table, client, *columns_.client) : "";
    Held& observed = held(table, files_.size(), owner, word_of(table, sequence, columns_.sequence));
    observed.observed.push_back(
        {times_.read(table, start, "start"), times_.read(table, end, "end"), table.line_number()});
    return true;
  };
  faults.read_all(read_row);
}

void EventTableReader::set_axis() {
  if (!times_.dates()) return;
  const auto seconds = config::seconds_of(axis_.unit);
  if (!axis_.like.empty() && (!seconds || !axis_.origin))
    throw UserError(fmt::format(
        "{}: column '{}' holds dates, but the times of {} count in '{}' from no known date: import its table again, "
        "with --time-unit (one of {}) and --time-origin",
        files_.front(), columns_.time, axis_.like, io::visible(axis_.unit), config::kTimeUnits));
  if (!seconds)
    throw UserError(
        fmt::format("{}: column '{}' holds dates: name the unit of time to count them in, --time-unit{} with one of {}",
                    files_.front(), columns_.time,
                    axis_.unit == config::Data{}.time_unit ? "" : fmt::format(" (now '{}')", io::visible(axis_.unit)),
                    config::kTimeUnits));
  unit_ = *seconds;
  origin_ = axis_.origin.value_or(times_.first_midnight()).time_since_epoch().count();
}

void EventTableReader::number_types(io::SequenceNames& names) {
  if (!columns_.type) {
    type_numbers_ = {0};
    return;
  }
  const bool numbers = types_.are_numbers(io::kLargestType);
  if (!numbers && types_.size() > std::size_t{io::kLargestType} + 1)
    throw UserError(fmt::format("{}: column '{}' holds {} different words; at most {} types of event are possible",
                                files_.front(), *columns_.type, types_.size(), io::kLargestType + 1));
  for (std::size_t place = 0; place < types_.size(); ++place)
    type_numbers_.push_back(
        static_cast<int>(numbers ? io::whole_number(types_.words()[place]).value() : static_cast<std::int64_t>(place)));
  if (!numbers) names.types = types_.words();
}

void EventTableReader::number_clients(io::SequenceNames& names) {
  client_numbers_.resize(clients_.size());
  for (const std::size_t place : clients_.sorted()) {
    client_numbers_[place] = static_cast<std::int64_t>(names.clients.size());
    names.clients.push_back(clients_.words()[place]);
  }
}

io::SequenceRecord EventTableReader::record_of(const Held& sequence) const {
  std::vector<double> times;
  for (const Moment& moment : sequence.times) times.push_back(time_of(moment));
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  io::SequenceRecord record;
  record.first_line = sequence.first_line;
  for (const std::size_t i : order) {
    record.times.push_back(times[i]);
    record.types.push_back(type_numbers_[sequence.types[i]]);
  }
  return record;
}

std::vector<io::Window> EventTableReader::windows_of(const Held& sequence, const std::string& path) const {
  std::vector<Observation> observed = sequence.observed;
  std::stable_sort(observed.begin(), observed.end(),
                   [&](const Observation& a, const Observation& b) { return time_of(a.start) < time_of(b.start); });
  std::vector<io::Window> windows;
  for (const Observation& row : observed) {
    const io::Window window{time_of(row.start), time_of(row.end)};
    const std::string problem = io::window_problem(window, windows.empty() ? nullptr : &windows.back());
    if (!problem.empty())
      throw UserError(
          fmt::format("{}:{}: sequence {}: {}", path, row.line, io::shown(names_.words()[sequence.name]), problem));
    windows.push_back(window);
  }
  return windows;
}

EventTable EventTableReader::finish(const std::string& windows) {
  set_axis();
  EventTable table;
  number_types(table.names);
  number_clients(table.names);
  const bool keep_numbers = !columns_.client && names_.are_numbers(kAnyNumber);
  for (Held& sequence : held_) {
    const std::string& name = names_.words()[sequence.name];
    if (!windows.empty() && sequence.observed.empty())
      throw UserError(fmt::format(
          "{}:{}: sequence {}{} has no row in the windows table {}: add when it was observed", files_[sequence.file],
          sequence.first_line, io::shown(name),
          columns_.client ? fmt::format(" of client {}", io::shown(clients_.words()[sequence.client])) : "", windows));
    io::SequenceRecord record = record_of(sequence);
    record.id = keep_numbers ? *io::whole_number(name) : static_cast<std::int64_t>(table.sequences.size());
    if (!keep_numbers) record.name = name;
    if (columns_.client) record.client = client_numbers_[sequence.client];
    if (!windows.empty()) table.windows.push_back(windows_of(sequence, windows));
    table.sequences.push_back(std::move(record));
    table.files.push_back(sequence.file);
    sequence = {};
  }
  if (times_.dates())
    table.names.time_origin = config::to_text(std::chrono::sys_seconds(std::chrono::seconds(origin_)));
  else if (axis_.origin)
    table.names.time_origin = config::to_text(*axis_.origin);
  return table;
}

}  // namespace

EventTable read_event_table(const std::vector<std::string>& files, const EventColumns& columns, const TimeAxis& axis,
                            const std::string& windows, const std::vector<std::string>& known_types) try {
  EventTableReader reader(files, columns, axis, known_types);
  for (std::size_t file = 0; file < files.size(); ++file) reader.read_events(file);
  if (!windows.empty()) reader.read_windows(windows);
  return reader.finish(windows);
} catch (const io::Error& error) {
  throw UserError(error.what());
}

}  // namespace fedpp::data
