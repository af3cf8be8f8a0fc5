#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/run_status.hpp"

namespace fedpp::commands {
namespace {

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  fedpp status out\n"
    "  watch -n 10 fedpp status out\n"
    "  fedpp status sweep/*/           one run after another";

/// One after another; of several, one that is no run does not hide the others.
int print_all(const std::vector<std::string>& directories) {
  int code = kSuccess;
  std::string between;
  for (const auto& directory : directories) {
    try {
      fmt::print("{}{}", between, to_text(directory, read_status(directory)));
      between = "\n";
    } catch (const UserError& mistake) {
      if (directories.size() == 1) throw;
      fmt::print(stderr, "fedpp: error: {}\n", mistake.what());
      code = kUserMistake;
    }
  }
  return code;
}

}  // namespace

void add_status(CLI::App& app, Action& chosen) {
  auto directories = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("status", "How a run is doing: round, time left, scores, imbalance, last checkpoint");
  command->footer(kStatusExamples);
  command->add_option("DIR", *directories, "Folders that 'fedpp train' writes to, running or finished")->required();
  command->callback([directories, &chosen] { chosen = [directories] { return print_all(*directories); }; });
}

}  // namespace fedpp::commands
