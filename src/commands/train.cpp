#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/parallel.hpp"
#include "config/data_files.hpp"
#include "config/notes.hpp"
#include "config/read.hpp"
#include "federation/run.hpp"
#include "federation/stop_signal.hpp"

namespace fedpp::commands {
namespace {

struct TrainOptions {
  std::string config_file;
  std::vector<std::string> overrides;
  std::string directory;
  bool resume = false;
  std::string checkpoint;
  bool automatic = false, accept_changes = false;
  bool validate_only = false;
  bool profile = false;
  bool estimate = false;
};

constexpr const char* kTrainExamples =
    "Examples:\n"
    "  fedpp train run.toml --validate-only\n"
    "  mpirun -n 4 fedpp train run.toml --out out --set federation.rounds=20 --set federation.seed=2\n"
    "  mpirun -n 2 fedpp train run.toml --out out --resume     another number of ranks is fine\n"
    "  mpirun -n 4 fedpp train run.toml --estimate             memory and time on four ranks, before the run";

config::Resolved read_config(const TrainOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  if (!options.directory.empty()) overrides.push_back("output.directory=" + options.directory);
  config::Resolved resolved = config::read(options.config_file, overrides);
  config::check_data_files(resolved.config, resolved.origins);
  return resolved;
}

int train(const TrainOptions& options) {
  if (options.validate_only) {
    const config::Resolved resolved = read_config(options);
    config::check_client_files(resolved.config, resolved.origins);
    for (const auto& note : config::notes(resolved.config)) fmt::print("{}\n", note);
    fmt::print("{0}: valid; the data files are there, but were not read: 'fedpp info {0}{1}' reads them\n",
               options.config_file, options.overrides.empty() ? "" : " --set ...");
    return kSuccess;
  }
  if (!options.estimate) federation::watch_for_signals();  // first of all: MPI and loading may take minutes
  return run_parallel([&](mpi::Communicator& world) {
    const config::Config config = read_on_rank_0(world, [&] { return read_config(options).config; });
    if (options.estimate) return federation::run_estimate(config, world);
    return federation::run_training(
        config,
        {.start = options.resume ? federation::Start::kResume : federation::Start::kInitialPrior,
         .checkpoint = options.checkpoint,
         .automatic = options.automatic,
         .accept_changes = options.accept_changes,
         .profile = options.profile},
        world);
  });
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train the federation that a configuration file describes");
  command->footer(kTrainExamples);
  command->add_option("CONFIG", options->config_file, "Configuration file (TOML; 'fedpp config' prints one)")
      ->required();
  add_set_option(*command, options->overrides);
  command->add_option("--out", options->directory, "Folder for results and checkpoints (sets output.directory)")
      ->type_name("DIR")
      ->check(not_empty);
  CLI::Option* resume =
      command->add_flag("--resume", options->resume, "Go on from the newest checkpoint in the folder for results");
  command->add_option("--checkpoint", options->checkpoint, "Go on from this checkpoint instead")
      ->type_name("FILE")
      ->check(not_empty)
      ->needs(resume);
  CLI::Option* automatic = command
                               ->add_flag("--auto-resume", options->automatic,
                                          "For job scripts: go on from the newest intact checkpoint in the folder "
                                          "(damaged ones are passed over, and said), or start where there is none")
                               ->excludes(resume);
  command
      ->add_flag("--accept-changes", options->accept_changes,
                 "Go on under a configuration that differs from the checkpoint's; the differences are listed")
      ->needs(resume)
      ->excludes(automatic);
  // Neither reads a checkpoint. Job scripts give --auto-resume always, so it is passed over here.
  CLI::Option* validate =
      command
          ->add_flag("--validate-only", options->validate_only,
                     "Check the configuration and that the data files are there, then stop (needs no GPU and no "
                     "mpirun); 'fedpp info CONFIG' reads the data, too")
          ->excludes(resume);
  command->add_flag("--profile", options->profile,
                    "Print where the time went at the end: phases and kernels, over the ranks (docs/profiling.md)");
  command
      ->add_flag("--estimate", options->estimate,
                 "Read the data, measure a little, print the memory and time that the training would take on each "
                 "rank, then stop; writes nothing")
      ->excludes(resume)
      ->excludes(validate);
  command->callback([options, &chosen] { chosen = [options] { return train(*options); }; });
}

}  // namespace fedpp::commands
