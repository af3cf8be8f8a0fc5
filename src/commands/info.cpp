#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/windows_text.hpp"
#include "config/counted.hpp"
#include "config/data_files.hpp"
#include "config/date.hpp"
#include "config/error.hpp"
#include "config/read.hpp"
#include "data/dataset.hpp"
#include "data/seen_types.hpp"
#include "data/summary.hpp"
#include "data/ties.hpp"
#include "data/unix_time.hpp"
#include "io/faults.hpp"
#include "io/sequence_file.hpp"
#include "io/shown.hpp"
#include "io/suffix.hpp"

namespace fedpp::commands {
namespace {

struct InfoOptions {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};

constexpr const char* kInfoExamples =
    "Examples:\n"
    "  fedpp info train.csv.gz test.jsonl data.h5      sequences, events, times, ties, repeats, types\n"
    "  fedpp info run.toml --set data.clients=50       what each client holds, without training";

/// ", unit hour since 2019-03-01": of the times of an HDF5 file.
std::string axis_of(const io::SequenceSummary& summary) {
  if (summary.time_unit.empty()) return "";
  const std::string& origin = summary.names.time_origin;
  return io::visible(fmt::format(", unit {}{}", summary.time_unit, origin.empty() ? "" : " since " + origin));
}

void print_events(const std::string& file) {
  const io::SequenceSummary summary = io::summarise(file);
  fmt::print("{}\n", file);
  if (io::is_hdf5(file))
    fmt::print("  checksum        {}\n",
               io::is_sealed(file) ? "as sealed"
                                   : "none: damage to the file may go unseen (what 'fedpp import' makes has one)");
  const io::SequenceNames& names = summary.names;
  if (!names.clients.empty()) fmt::print("  clients         {}\n", names.clients.size());
  for (std::size_t client = 0; client < names.clients.size(); ++client)
    fmt::print("    client {:<6} {}, {}  {}\n", client, config::counted(summary.client_sequences[client], "sequence"),
               config::counted(summary.client_events[client], "event"), io::visible(names.clients[client]));
  fmt::print("  sequences       {}\n", summary.sequences);
  fmt::print("  events          {}\n", summary.events);
  fmt::print("  lengths         {} to {}, mean {:.1f}\n", summary.shortest, summary.longest, summary.mean_length);
  fmt::print("  times           {} to {}{}\n", summary.first_time, summary.last_time, axis_of(summary));
  if (const auto first = config::date_at(names.time_origin, summary.time_unit, summary.first_time),
      last = config::date_at(names.time_origin, summary.time_unit, summary.last_time);
      !first.empty() && !last.empty())
    fmt::print("                  {} to {}\n", first, last);
  else if (const auto doubt = data::doubt_about_numbers(summary.first_time, summary.last_time); !doubt.empty())
    fmt::print("                  {}\n", doubt);
  if (summary.windows.sequences > 0)
    fmt::print("  windows         {}\n",
               windows_text(summary.windows, summary.sequences, io::visible(summary.time_unit)));
  if (summary.windows.outside > 0)
    fmt::print("  outside them    {}, which training leaves out\n", config::counted(summary.windows.outside, "event"));
  const data::Gaps gaps{summary.gaps, summary.ties};
  fmt::print("  equal times     {} of {} gaps between neighbours\n", gaps.zero, gaps.all);
  if (const auto doubt = gaps.doubt(); !doubt.empty()) fmt::print("                  {}\n", doubt);
  if (summary.repeated > 0)
    fmt::print("  repeated        {} with the time and type of an earlier one of their sequence\n",
               config::counted(summary.repeated, "event"));
  if (summary.timeless > 0)
    fmt::print(
        "  no time passes  in {} sequences of several events{}\n", summary.timeless,
        summary.first_timeless_line > 0 ? fmt::format(", the first at line {}", summary.first_timeless_line) : "");
  fmt::print("  types           {}\n", summary.types);
  for (std::size_t type = 0; type < summary.type_counts.size(); ++type) {
    if (summary.type_counts[type] > 0)
      fmt::print("    type {:<8} {}{}\n", type, config::counted(summary.type_counts[type], "event"),
                 type < names.types.size() ? "  " + io::visible(names.types[type]) : "");
  }
}

/// use(), whose error, where it throws one, is kept.
template <class Use>
void keep_fault(io::Faults& faults, const Use& use) {
  try {
    use();
  } catch (const UserError& error) {
    faults.add(error.what());
  }
}

/// All but those whose own files are faulty; what is wrong with these. `extents`: of those that are readable.
std::vector<std::int64_t> readable_clients(const data::Plan& plan, data::LocalExtents& extents, io::Faults& faults) {
  std::vector<std::int64_t> readable;
  for (std::int64_t client = 0; client < plan.clients(); ++client)
    keep_fault(faults, [&] {
      extents += data::local_extents(plan, {&client, 1});
      readable.push_back(client);
    });
  return readable;
}

void print_clients(const std::string& file, const std::vector<std::string>& overrides) {
  const config::Resolved resolved = config::read(file, overrides);
  config::check_data_files(resolved.config, resolved.origins);
  const config::Config& config = resolved.config;
  data::Plan plan =
      data::make_plan(config.data, config.model.window, static_cast<std::uint64_t>(config.federation.seed));
  io::Faults faults("faulty client");
  data::LocalExtents extents;
  const std::vector<std::int64_t> readable = readable_clients(plan, extents, faults);
  if (readable.empty()) faults.throw_any();
  std::vector<data::ClientData> clients;
  keep_fault(faults, [&] {
    data::finish_plan(plan, extents);
    clients = data::read_clients(plan, readable);
  });
  if (clients.empty()) faults.throw_any();
  std::vector<data::ClientSummary> summaries;
  for (const data::ClientData& client : clients) summaries.push_back(data::summarise(client));
  fmt::print("{}\n{}", file,
             data::summary_table(summaries, plan.clients_of_files() ? plan.client_names : std::vector<std::string>{}));
  for (const auto& text : {data::to_text(data::unseen_types(plan)), data::unused_clients(plan)})
    if (!text.empty()) fmt::print("{}\n", text);
  keep_fault(faults, [&] { data::require_training(clients, plan); });
  faults.throw_any();
}

int info(const InfoOptions& options) {
  for (const std::string& file : options.files) {
    std::error_code unknown;
    if (std::filesystem::is_directory(file, unknown))
      throw UserError(fmt::format(
          "{}: is a folder; name a data file or a configuration, or ask 'fedpp status {}' what a training does there",
          file, file));
    if (std::filesystem::path(file).extension() == ".toml") {
      print_clients(file, options.overrides);
    } else {
      print_events(file);
    }
  }
  return kSuccess;
}

}  // namespace

void add_info(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Summarise event files, or what the clients of a configuration hold");
  command->footer(kInfoExamples);
  command
      ->add_option("FILE", options->files,
                   "CSV (plain or .gz), EasyTPP JSON lines, HDF5 made by 'fedpp import', or a configuration (.toml)")
      ->required();
  add_set_option(*command, options->overrides);
  command->callback([options, &chosen] { chosen = [options] { return info(*options); }; });
}

}  // namespace fedpp::commands
