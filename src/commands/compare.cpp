#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "config/error.hpp"
#include "federation/comparison.hpp"

namespace fedpp::commands {
namespace {

constexpr const char* kCompareExamples =
    "Examples:\n"
    "  fedpp compare out_kl out_w2\n"
    "  fedpp compare local federated fedavg            each against the first\n"
    "  fedpp compare out out/evaluation.json           as 'fedpp evaluate out --state last' scored it\n"
    "\n"
    "Clients are the units: the standard error is of clients' differences, and says nothing of other seeds.";

int compare(const std::vector<std::string>& paths) {
  if (paths.size() < 2) throw UsageError("compare needs two runs or more (see fedpp compare --help)");
  std::vector<federation::FinishedRun> runs;
  for (const auto& path : paths) runs.push_back(federation::read_finished_run(path));
  fmt::print("{}", federation::compare(std::move(runs)));
  return kSuccess;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  auto paths = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("compare", "Finished runs side by side on the same held-out events, and how they differ");
  command->footer(kCompareExamples);
  command
      ->add_option("OUT", *paths,
                   "Folders that 'fedpp train' has finished in (their result.json), or files of 'fedpp evaluate'; the "
                   "first is what the others are compared with")
      ->required();
  command->callback([paths, &chosen] { chosen = [paths] { return compare(*paths); }; });
}

}  // namespace fedpp::commands
