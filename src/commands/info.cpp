#include "commands/info.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "io/sequence_file.hpp"

namespace fedpp::commands {
namespace {

void print_summary(const std::string& file) {
  const io::SequenceSummary summary = io::summarise(file);
  fmt::print("{}\n", file);
  fmt::print("  sequences       {}\n", summary.sequences);
  fmt::print("  events          {}\n", summary.events);
  fmt::print("  lengths         {} to {}, mean {:.1f}\n", summary.shortest, summary.longest, summary.mean_length);
  fmt::print("  times           {} to {}\n", summary.first_time, summary.last_time);
  fmt::print("  equal times     {} of the gaps between neighbours\n", summary.ties);
  fmt::print("  types           {}\n", summary.types);
  for (std::size_t type = 0; type < summary.type_counts.size(); ++type) {
    if (summary.type_counts[type] > 0) fmt::print("    type {:<8} {} events\n", type, summary.type_counts[type]);
  }
}

}  // namespace

void add_info(CLI::App& app, Action& chosen) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "info", "Summarise files of event sequences: counts, lengths, times, ties, events of each type");
  command->footer("Example:\n  fedpp info train.csv.gz test.jsonl data.h5");
  command->add_option("FILE", *files, "CSV (plain or .gz), EasyTPP JSON lines, or HDF5 made by 'fedpp import'")
      ->required();
  command->callback([files, &chosen] {
    chosen = [files] {
      for (const std::string& file : *files) print_summary(file);
      return kSuccess;
    };
  });
}

}  // namespace fedpp::commands
