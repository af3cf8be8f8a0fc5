#include "commands/import_table.hpp"

#include <fmt/format.h>

#include "commands/import_notes.hpp"
#include "config/counted.hpp"
#include "config/error.hpp"
#include "config/keys.hpp"
#include "io/sequence_file.hpp"
#include "io/shown.hpp"

namespace fedpp::commands {
namespace {

/// What of [data] the file answers.
std::string configuration_of(const std::string& out, const io::SequenceNames& names, const std::string& time_unit) {
  std::string text = fmt::format("[data]\ntrain = [{}]\n", config::toml_string(out));
  if (!names.clients.empty()) text += fmt::format("partition = \"file\"\nclients = {}\n", names.clients.size());
  text += fmt::format("time_unit = {}\n", config::toml_string(time_unit));
  if (!names.time_origin.empty()) text += fmt::format("time_origin = \"{}\"\n", names.time_origin);
  return text;
}

}  // namespace

data::EventColumns parse_columns(const std::vector<std::string>& texts) {
  std::vector<std::string> pairs;  // a header may have commas, at which the command line was cut
  for (const std::string& text : texts)
    if (text.find('=') == text.npos && !pairs.empty())
      pairs.back() += "," + text;
    else
      pairs.push_back(text);
  data::EventColumns columns;
  for (const std::string& text : pairs) {
    const std::size_t equals = text.find('=');
    const std::string role = text.substr(0, equals);
    const std::string header = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (header.empty() || (role != "sequence" && role != "time" && role != "type" && role != "client"))
      throw UserError(
          fmt::format("--columns {}: say which column of the table is the sequence, the time, the type and the client, "
                      "as sequence=patient,time=when,type=ward,client=site",
                      text));
    if (role == "sequence") columns.sequence = header;
    if (role == "time") columns.time = header;
    if (role == "type") columns.type = header;
    if (role == "client") columns.client = header;
  }
  return columns;
}

void import_table(const TableImport& import) {
  const data::EventTable table =
      data::read_event_table(import.files, import.columns, import.axis, import.windows, import.known_types);
  io::SequenceFileWriter writer(import.out, import.files, import.axis.unit, table.names);
  ImportNotes notes(import.axis.unit, table.names.time_origin);
  for (std::size_t i = 0; i < table.sequences.size(); ++i) {
    const io::SequenceRecord& sequence = table.sequences[i];
    const std::vector<io::Window> windows = table.windows.empty() ? std::vector<io::Window>{} : table.windows[i];
    const std::string& file = table.files[i] < import.files.size() ? import.files[table.files[i]] : import.windows;
    const std::string name = sequence.name.empty() ? std::to_string(sequence.id) : io::shown(sequence.name);
    notes.add(fmt::format("{}:{}, sequence {}", file, sequence.first_line, name), sequence, windows);
    writer.append(sequence, windows);
  }
  writer.close();
  const auto clients = static_cast<std::int64_t>(table.names.clients.size());
  fmt::print("{}: {}{}, {}{}\n{}{}Lines for the configuration:\n\n{}", import.out,
             clients > 0 ? config::counted(clients, "client") + ", " : "",
             config::counted(writer.sequences(), "sequence"), config::counted(writer.events(), "event"),
             notes.outside(), notes.dates() + notes.windows(writer.sequences()), notes.timeless() + notes.lines(),
             configuration_of(import.out, table.names, import.axis.unit));
}

}  // namespace fedpp::commands
