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
    "  fedpp compare kl/* --against w2/*               two configurations, run under the same seeds\n"
    "\n"
    "Clients are the units: the standard error is of clients' differences, and says nothing of other seeds. With --against\n"
    "seeds are the units: runs are paired by federation.seed, and the standard error is of these pairs' differences.";

std::vector<federation::FinishedRun> read(const std::vector<std::string>& paths) {
  std::vector<federation::FinishedRun> runs;
  for (const auto& path : paths) runs.push_back(federation::read_finished_run(path));
  return runs;
}

int compare(const std::vector<std::string>& paths, const std::vector<std::string>& against) {
  if (against.empty() && paths.size() < 2)
    throw UsageError("compare needs two runs or more (see fedpp compare --help)");
  fmt::print("{}", against.empty() ? federation::compare(read(paths))
                                   : federation::compare_over_seeds(read(paths), read(against)));
  return kSuccess;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  auto paths = std::make_shared<std::vector<std::string>>(), against = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("compare", "Finished runs side by side on the same held-out events, and how they differ");
  command->footer(kCompareExamples);
  command
      ->add_option("OUT", *paths,
                   "Folders that 'fedpp train' has finished in (their result.json), or files of 'fedpp evaluate'; the "
                   "first is what the others are compared with")
      ->required();
  command
      ->add_option("--against", *against,
                   "Runs of another configuration, under the same seeds as the runs before it: each pair of runs with "
                   "one federation.seed gives a difference, and these their mean and standard error")
      ->type_name("OUT...");
  command->callback([paths, against, &chosen] { chosen = [paths, against] { return compare(*paths, *against); }; });
}

}  // namespace fedpp::commands
