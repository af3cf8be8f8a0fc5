#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands/command.hpp"
#include "commands/import_notes.hpp"
#include "commands/import_table.hpp"
#include "config/counted.hpp"
#include "config/date.hpp"
#include "config/error.hpp"
#include "federation/result_file.hpp"
#include "io/atomic_file.hpp"
#include "io/event_pieces.hpp"
#include "io/event_reader.hpp"
#include "io/sequence_file.hpp"
#include "io/suffix.hpp"

namespace fedpp::commands {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string windows;
  std::vector<std::string> columns;
  std::string cut_events;
  std::string time_unit, time_origin, like;
  std::string out;
  std::string unix_time;
};

constexpr const char* kImportExamples =
    "Examples:\n"
    "  fedpp import train.csv.gz --out train.h5 --time-unit day\n"
    "  fedpp import visits.csv --columns sequence=patient,time=when,type=ward,client=site --time-unit hour --out "
    "visits.h5\n"
    "  fedpp import sensors.jsonl --windows observed.csv --out sensors.h5\n"
    "  fedpp import cascades.csv.gz --cut-events 50:264 --out pieces.h5";

/// "50:264".
io::PieceLengths parse_lengths(const std::string& text) {
  io::PieceLengths lengths;
  const char* end = text.data() + text.size();
  const auto low = std::from_chars(text.data(), end, lengths.shortest);
  if (low.ec == std::errc() && low.ptr != end && *low.ptr == ':') {
    const auto high = std::from_chars(low.ptr + 1, end, lengths.longest);
    if (high.ec == std::errc() && high.ptr == end && 1 <= lengths.shortest && lengths.shortest <= lengths.longest)
      return lengths;
  }
  throw UserError(fmt::format(
      "--cut-events {}: give the fewest and the most events of a piece, as 50:264, with 1 <= fewest <= most", text));
}

std::optional<std::chrono::sys_seconds> parse_origin(const ImportOptions& options) {
  if (options.time_origin.empty()) return std::nullopt;
  const auto date = config::parse_date(options.time_origin);
  if (!date || date->nanoseconds != 0)
    throw UserError(
        fmt::format("--time-origin {}: is not a date that exists: write it as 2019-03-01 or 2019-03-01T06:30:00",
                    options.time_origin));
  if (!config::seconds_of(options.time_unit))
    throw UserError(fmt::format("--time-origin {} with --time-unit {}: the unit must be one of {}", options.time_origin,
                                options.time_unit, config::kTimeUnits));
  return date->second;
}

/// What the numbers of the input stand for. Only HDF5 says so; two such files may number the same names differently.
io::SequenceNames names_of(const ImportOptions& options) {
  io::SequenceNames names;
  for (const std::string& file : options.files) {
    if (!io::is_hdf5(file)) continue;
    names = io::SequenceFileReader(file).names();
    if (options.files.size() > 1 && (!names.clients.empty() || !names.types.empty()))
      throw UserError(
          fmt::format("{}: has names of clients or types, which the other files may number differently; import it "
                      "alone, or the tables that it was made of in one command with --columns",
                      file));
  }
  if (const auto origin = parse_origin(options)) names.time_origin = config::to_text(*origin);
  return names;
}

std::string where(const std::string& file, const io::SequenceRecord& sequence) {
  return sequence.first_line > 0 ? fmt::format("{}:{}", file, sequence.first_line)
                                 : fmt::format("{}, sequence {}", file, sequence.id);
}

/// Of the table given, else those that HDF5 files hold.
std::vector<io::SequenceWindows> windows_of(const ImportOptions& options) {
  if (!options.windows.empty()) return io::read_windows(options.windows);
  std::vector<io::SequenceWindows> all;
  for (const std::string& file : options.files) {
    if (!io::is_hdf5(file)) continue;
    for (io::SequenceWindows& entry : io::read_windows(file)) all.push_back(std::move(entry));
  }
  return all;
}

/// Every sequence in pieces (io/event_pieces.hpp).
int import_pieces(const ImportOptions& options) {
  const io::PieceLengths lengths = parse_lengths(options.cut_events);
  if (!options.windows.empty())
    throw UserError(
        fmt::format("--cut-events with --windows {}: a piece is observed from its first to its last event; leave out "
                    "one of the two",
                    options.windows));
  const bool windows = std::ranges::any_of(options.files, [](const std::string& file) {
    return io::is_hdf5(file) && io::SequenceFileReader(file).has_windows();
  });
  const io::SequenceNames names = names_of(options);
  io::SequenceFileWriter writer(options.out, options.files, options.time_unit, names);
  io::PieceCounts counts;
  ImportNotes notes(options.time_unit, names.time_origin);
  std::int64_t sequences = 0;
  for (const std::string& file : options.files) {
    io::read_sequences(file, [&](io::SequenceRecord& sequence) {
      ++sequences;
      notes.add(where(file, sequence), sequence, {});
      io::cut_into_pieces(sequence, lengths, [&](io::SequenceRecord& piece) { writer.append(piece); }, counts);
    });
  }
  if (counts.pieces == 0)
    throw UserError(fmt::format("--cut-events {}: none of the {} sequences has {} events; ask for fewer",
                                options.cut_events, sequences, lengths.shortest));
  writer.close();
  fmt::print(
      "{}: {} pieces of {} sequences, {} events; {} pieces below {} events dropped ({} events); {} cuts between "
      "events at equal times\n{}",
      options.out, counts.pieces, sequences, writer.events(), counts.dropped_pieces, lengths.shortest,
      counts.dropped_events, counts.cut_ties, notes.lines());
  if (windows)
    fmt::print("the windows in the input are left out: a piece is observed from its first to its last event\n");
  return kSuccess;
}

int import_columns(const ImportOptions& options) {
  if (!options.cut_events.empty())
    throw UserError(fmt::format(
        "--cut-events {} with --columns, --like or --unix-time: import the table first, then cut the file made of it",
        options.cut_events));
  TableImport table;
  table.files = options.files;
  table.columns = parse_columns(options.columns);
  table.axis.unit = options.time_unit;
  table.axis.unix_unit = options.unix_time;
  table.windows = options.windows;
  table.out = options.out;
  if (options.like.empty()) {
    table.axis.origin = parse_origin(options);
  } else {
    const io::SequenceFileReader like(options.like);
    table.known_types = like.names().types;
    table.axis.unit = like.time_unit();
    table.axis.like = options.like;
    if (const auto origin = config::parse_date(like.names().time_origin)) table.axis.origin = origin->second;
  }
  import_table(table);
  return kSuccess;
}

/// That of the input, where it is one HDF5 file.
std::string default_unit(const std::vector<std::string>& files) {
  if (files.size() == 1 && io::is_hdf5(files.front())) return io::SequenceFileReader(files.front()).time_unit();
  return "file unit";
}

void refuse_files_named_twice(const std::vector<std::string>& files) {
  std::error_code unknown;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = i + 1; j < files.size(); ++j)
      if (std::filesystem::equivalent(files[i], files[j], unknown))
        throw UserError(fmt::format("{} is the same file as {}: name each file once", files[j], files[i]));
}

int import(ImportOptions options) {
  federation::refuse_what_training_keeps(options.out);
  io::check_writable(options.out, options.files);
  refuse_files_named_twice(options.files);
  if (options.time_unit.empty()) options.time_unit = default_unit(options.files);
  if (!options.columns.empty() || !options.like.empty() || !options.unix_time.empty()) return import_columns(options);
  if (!options.cut_events.empty()) return import_pieces(options);
  std::unordered_map<std::int64_t, std::vector<io::Window>> windows;  // of sequences not yet met
  for (io::SequenceWindows& entry : windows_of(options)) windows[entry.id] = std::move(entry.windows);
  const bool observed = !windows.empty();
  const io::SequenceNames names = names_of(options);
  io::SequenceFileWriter writer(options.out, options.files, options.time_unit, names);
  ImportNotes notes(options.time_unit, names.time_origin);
  std::unordered_map<std::int64_t, const std::string*> origin;  // of the sequences met
  for (const std::string& file : options.files) {
    io::read_sequences(file, [&](io::SequenceRecord& sequence) {
      if (options.files.size() > 1) {
        const auto [earlier, is_new] = origin.emplace(sequence.id, &file);
        if (!is_new)
          throw UserError(fmt::format(
              "{}: sequence {} is in {}, too; number the sequences of several files differently, or import each file "
              "for itself",
              where(file, sequence), sequence.id, *earlier->second));
      }
      const auto found = windows.find(sequence.id);
      if (found == windows.end()) {
        if (!options.windows.empty())
          throw UserError(fmt::format("{}: sequence {} has no row in the windows table {}: add when it was observed",
                                      where(file, sequence), sequence.id, options.windows));
        if (observed)
          throw UserError(fmt::format(
              "{}: sequence {} has no windows, but others have: give those of all sequences in one table (--windows), "
              "or import those that have windows for themselves",
              where(file, sequence), sequence.id));
        notes.add(where(file, sequence), sequence, {});
        writer.append(sequence);
      } else {
        writer.append(sequence, found->second);
        notes.add(where(file, sequence), sequence, found->second);
        windows.erase(found);
      }
    });
  }
  // A window without events is data: nothing happened there. In the table's order.
  if (!options.windows.empty()) {
    for (const io::SequenceWindows& entry : io::read_windows(options.windows)) {
      if (!windows.count(entry.id)) continue;
      writer.append({entry.id, {}, {}, 0}, entry.windows);
      notes.add_empty(entry.windows);
    }
  }
  writer.close();
  fmt::print("{}: {}, {}{}\n{}{}", options.out, config::counted(writer.sequences(), "sequence"),
             config::counted(writer.events(), "event"), notes.outside(), notes.windows(writer.sequences()),
             notes.timeless() + notes.lines());
  return kSuccess;
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Check event sequences and store them in one HDF5 file");
  command->footer(kImportExamples);
  command
      ->add_option(
          "FILE", options->files,
          "CSV with a header sequence,time[,type] (plain or .gz), or EasyTPP JSON lines; sequence numbers must differ "
          "between files")
      ->required();
  command
      ->add_option("--columns", options->columns,
                   "CSV tables with headers of their own, words, dates and rows in any order: which column is the "
                   "sequence, time, type of event and client; others are passed over (default: columns of these names)")
      ->type_name("WHAT=HEADER,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--windows", options->windows,
                   "Windows table: CSV sequence,start,end, several rows for gaps; with --columns the sequence and the "
                   "client under the headers given there")
      ->type_name("FILE")
      ->check(not_empty);
  command
      ->add_option("--cut-events", options->cut_events,
                   "Cut sequences into consecutive pieces of at most HIGH events; pieces below LOW are dropped")
      ->type_name("LOW:HIGH");
  CLI::Option* unit =
      command
          ->add_option("--time-unit", options->time_unit,
                       fmt::format("Name of the unit of time, for tables and axes; dates are counted in one of {} "
                                   "(default: that of an HDF5 file, else \"file unit\")",
                                   config::kTimeUnits))
          ->type_name("NAME")
          ->check(not_empty);
  CLI::Option* origin =
      command
          ->add_option(
              "--time-origin", options->time_origin,
              "Date of time 0, as 2019-03-01 or 2019-03-01T06:30:00 (default with dates: the midnight before the "
              "first)")
          ->type_name("DATE")
          ->check(not_empty);
  command
      ->add_option("--unix-time", options->unix_time,
                   "Times of a CSV table are dates as numbers, Unix time in this unit (UTC): read as dates are")
      ->type_name("s|ms|us|ns")
      ->check(CLI::IsMember({"s", "ms", "us", "ns"}).description(""));
  command
      ->add_option("--like", options->like,
                   "HDF5 file that the one to be made goes with: words of types get its numbers, times its unit and "
                   "origin")
      ->type_name("FILE")
      ->check(not_empty)
      ->excludes(unit)
      ->excludes(origin);
  command->add_option("--out", options->out, "HDF5 file to write")->type_name("FILE")->required()->check(not_empty);
  command->callback([options, &chosen] { chosen = [options] { return import(*options); }; });
}

}  // namespace fedpp::commands
