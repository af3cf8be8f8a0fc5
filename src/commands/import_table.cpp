#include "commands/import_table.hpp"

#include <fmt/format.h>

#include "commands/import_notes.hpp"
#include "config/counted.hpp"
#include "config/error.hpp"
#include "config/keys.hpp"
#include "io/sequence_file.hpp"

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
  data::EventColumns columns;
  for (const std::string& text : texts) {
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

void import_table(const std::vector<std::string>& files, const data::EventColumns& columns, const data::TimeAxis& axis,
                  const std::string& windows, const std::string& out) {
  const data::EventTable table = data::read_event_table(files, columns, axis, windows);
  io::SequenceFileWriter writer(out, files, axis.unit, table.names);
  ImportNotes notes;
  for (std::size_t i = 0; i < table.sequences.size(); ++i) {
    const io::SequenceRecord& sequence = table.sequences[i];
    const std::vector<io::Window> observed = table.windows.empty() ? std::vector<io::Window>{} : table.windows[i];
    notes.add(fmt::format("{}, sequence {}", out, sequence.id), sequence, observed);
    writer.append(sequence, observed);
  }
  writer.close();
  const auto clients = static_cast<std::int64_t>(table.names.clients.size());
  fmt::print("{}: {}{}, {}{}\n{}Lines for the configuration:\n\n{}", out,
             clients > 0 ? config::counted(clients, "client") + ", " : "",
             config::counted(writer.sequences(), "sequence"), config::counted(writer.events(), "event"),
             notes.outside(), notes.timeless(), configuration_of(out, table.names, axis.unit));
}

}  // namespace fedpp::commands
