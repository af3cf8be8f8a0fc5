#include "commands/status.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/run_status.hpp"

namespace fedpp::commands {
namespace {

constexpr const char* kStatusExamples =
    "Examples:\n"
    "  fedpp status out\n"
    "  watch -n 10 fedpp status out\n"
    "  fedpp status sweep/*/           one run after another";

}  // namespace

void add_status(CLI::App& app, Action& chosen) {
  auto directories = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("status", "How a run is doing: round, time left, scores, imbalance, last checkpoint");
  command->footer(kStatusExamples);
  command->add_option("DIR", *directories, "Folders that 'fedpp train' writes to, running or finished")->required();
  command->callback([directories, &chosen] {
    chosen = [directories] {
      for (const auto& directory : *directories)
        fmt::print("{}{}", &directory == &directories->front() ? "" : "\n", to_text(directory, read_status(directory)));
      return kSuccess;
    };
  });
}

}  // namespace fedpp::commands
