#include "commands/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/error.hpp"
#include "data/intervals.hpp"
#include "io/atomic_file.hpp"
#include "io/event_pieces.hpp"
#include "io/event_reader.hpp"
#include "io/sequence_file.hpp"

namespace fedpp::commands {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string windows;
  std::string cut_events;
  std::string time_unit = "file unit";
  std::string out;
};

constexpr const char* kImportExamples =
    "Examples:\n"
    "  fedpp import train.csv.gz --out train.h5 --time-unit days\n"
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

/// Every sequence in pieces (io/event_pieces.hpp).
int import_pieces(const ImportOptions& options) {
  const io::PieceLengths lengths = parse_lengths(options.cut_events);
  if (!options.windows.empty())
    throw UserError(
        fmt::format("--cut-events with --windows {}: a piece is observed from its first to its last event; leave out "
                    "one of the two",
                    options.windows));
  io::SequenceFileWriter writer(options.out, options.files, options.time_unit);
  io::PieceCounts counts;
  std::int64_t sequences = 0;
  for (const std::string& file : options.files) {
    io::read_sequences(file, [&](io::SequenceRecord& sequence) {
      ++sequences;
      io::cut_into_pieces(sequence, lengths, [&](io::SequenceRecord& piece) { writer.append(piece); }, counts);
    });
  }
  if (counts.pieces == 0)
    throw UserError(fmt::format("--cut-events {}: none of the {} sequences has {} events; ask for fewer",
                                options.cut_events, sequences, lengths.shortest));
  writer.close();
  fmt::print(
      "{}: {} pieces of {} sequences, {} events; {} pieces below {} events dropped ({} events); {} cuts between "
      "events at equal times\n",
      options.out, counts.pieces, sequences, writer.events(), counts.dropped_pieces, lengths.shortest,
      counts.dropped_events, counts.cut_ties);
  return kSuccess;
}

std::string where(const std::string& file, const io::SequenceRecord& sequence) {
  return sequence.first_line > 0 ? fmt::format("{}:{}", file, sequence.first_line)
                                 : fmt::format("{}, sequence {}", file, sequence.id);
}

/// How many of the times no window holds.
std::int64_t count_outside(const std::vector<double>& times, const std::vector<io::Window>& windows) {
  std::vector<data::Interval> observed;
  for (const io::Window& window : windows) observed.push_back({window.start, window.end});
  observed = data::join(std::move(observed));
  return std::count_if(times.begin(), times.end(), [&](double time) { return !data::holds(observed, time); });
}

int import(const ImportOptions& options) {
  io::check_writable(options.out, options.files);
  if (!options.cut_events.empty()) return import_pieces(options);
  std::unordered_map<std::int64_t, std::vector<io::Window>> windows;  // of sequences not yet met
  if (!options.windows.empty()) {
    for (io::SequenceWindows& entry : io::read_windows(options.windows)) windows[entry.id] = std::move(entry.windows);
  }
  io::SequenceFileWriter writer(options.out, options.files, options.time_unit);
  std::unordered_map<std::int64_t, const std::string*> origin;  // of the sequences met
  std::int64_t outside = 0, timeless = 0;
  std::string first_timeless;
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
          throw UserError(fmt::format("{}:{}: sequence {} has no row in the windows table {}: add when it was observed",
                                      file, sequence.first_line, sequence.id, options.windows));
        if (io::is_timeless(sequence) && timeless++ == 0) first_timeless = where(file, sequence);
        writer.append(sequence);
      } else {
        writer.append(sequence, found->second);
        outside += count_outside(sequence.times, found->second);
        windows.erase(found);
      }
    });
  }
  // A window without events is data: nothing happened there. In the table's order.
  if (!options.windows.empty()) {
    for (const io::SequenceWindows& entry : io::read_windows(options.windows)) {
      if (windows.count(entry.id)) writer.append({entry.id, {}, {}, 0}, entry.windows);
    }
  }
  writer.close();
  fmt::print("{}: {} sequences, {} events{}\n", options.out, writer.sequences(), writer.events(),
             outside > 0 ? fmt::format("; {} of them outside the windows, which training leaves out", outside) : "");
  if (timeless > 0)
    fmt::print(
        "{}: no time passes in this sequence of several events{}: the protocol 'chronological' leaves such ones out "
        "unless --windows says how long they were observed\n",
        first_timeless, timeless > 1 ? fmt::format(", nor in {} more", timeless - 1) : "");
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
  command->add_option("--windows", options->windows, "Windows table: CSV sequence,start,end, several rows for gaps")
      ->type_name("FILE")
      ->check(not_empty);
  command
      ->add_option("--cut-events", options->cut_events,
                   "Cut sequences into consecutive pieces of at most HIGH events; pieces below LOW are dropped")
      ->type_name("LOW:HIGH");
  command->add_option("--time-unit", options->time_unit, "Name of the unit of time, for tables and axes")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--out", options->out, "HDF5 file to write")->type_name("FILE")->required()->check(not_empty);
  command->callback([options, &chosen] { chosen = [options] { return import(*options); }; });
}

}  // namespace fedpp::commands
