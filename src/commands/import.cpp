#include "commands/import.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/error.hpp"
#include "io/event_reader.hpp"
#include "io/sequence_file.hpp"

namespace fedpp::commands {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string windows;
  std::string time_unit = "file unit";
  std::string out;
};

constexpr const char* kExamples =
    "Examples:\n"
    "  fedpp import train.csv.gz --out train.h5 --time-unit days\n"
    "  fedpp import sensors.jsonl --windows observed.csv --out sensors.h5";

int import(const ImportOptions& options) {
  std::unordered_map<std::int64_t, std::vector<io::Window>> windows;  // of sequences not yet met
  if (!options.windows.empty()) {
    for (io::SequenceWindows& entry : io::read_windows(options.windows)) windows[entry.id] = std::move(entry.windows);
  }
  io::SequenceFileWriter writer(options.out, options.files, options.time_unit);
  for (const std::string& file : options.files) {
    io::read_sequences(file, [&](io::SequenceRecord& sequence) {
      const auto found = windows.find(sequence.id);
      if (found == windows.end()) {
        if (!options.windows.empty())
          throw UserError(fmt::format("{}:{}: sequence {} has no row in the windows table {}: add when it was observed",
                                      file, sequence.first_line, sequence.id, options.windows));
        writer.append(sequence);
      } else {
        writer.append(sequence, found->second);
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
  fmt::print("{}: {} sequences, {} events\n", options.out, writer.sequences(), writer.events());
  return kSuccess;
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Check event sequences and store them in one HDF5 file");
  command->footer(kExamples);
  command
      ->add_option(
          "FILE", options->files,
          "CSV with a header sequence,time[,type] (plain or .gz), or EasyTPP JSON lines; sequence numbers must differ "
          "between files")
      ->required();
  command->add_option("--windows", options->windows, "Windows table: CSV sequence,start,end, several rows for gaps")
      ->type_name("FILE");
  command->add_option("--time-unit", options->time_unit, "Name of the unit of time, for tables and axes")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--out", options->out, "HDF5 file to write")->type_name("FILE")->required();
  command->callback([options, &chosen] { chosen = [options] { return import(*options); }; });
}

}  // namespace fedpp::commands
