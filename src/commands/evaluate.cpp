#include <memory>
#include <string>
#include <vector>

#include "commands/archived_config.hpp"
#include "commands/command.hpp"
#include "commands/parallel.hpp"
#include "federation/run.hpp"

namespace fedpp::commands {
namespace {

struct EvaluateOptions {
  std::string directory;
  std::vector<std::string> overrides;
  federation::EvaluationRequest request;
};

constexpr const char* kEvaluateExamples =
    "Examples:\n"
    "  fedpp evaluate out\n"
    "  mpirun -n 4 fedpp evaluate out --state last --set evaluation.samples=32";

int evaluate(const EvaluateOptions& options) {
  return run_parallel([&](mpi::Communicator& world) {
    const config::Config config =
        read_on_rank_0(world, [&] { return read_archived_config(options.directory, options.overrides); });
    return federation::run_evaluation(config, options.request, world);
  });
}

}  // namespace

void add_evaluate(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command =
      app.add_subcommand("evaluate", "Score a trained federation on held-out data, beside the trivial models");
  command->footer(kEvaluateExamples);
  command->add_option("DIR", options->directory, "Folder that 'fedpp train' wrote")->required();
  add_state_option(*command, options->request.state, "The round with the best validation score, or the last one");
  command->add_option("--out", options->request.file, "Result file (default: DIR/evaluation.json)")
      ->type_name("FILE.json")
      ->check(not_empty);
  add_set_option(*command, options->overrides);
  command->callback([options, &chosen] { chosen = [options] { return evaluate(*options); }; });
}

}  // namespace fedpp::commands
