#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/archived_config.hpp"
#include "commands/command.hpp"
#include "commands/parallel.hpp"
#include "config/data_files.hpp"
#include "config/effects.hpp"
#include "config/error.hpp"
#include "federation/run.hpp"
#include "federation/stop_signal.hpp"
#include "io/checkpoint_file.hpp"

namespace fedpp::commands {
namespace {

constexpr std::int64_t kRounds = 20;

struct AdaptOptions {
  std::string source;  ///< folder of a run, or one of its checkpoints
  std::vector<std::string> overrides;
  std::string directory;
  federation::KeptState state = federation::KeptState::kBest;
  std::optional<std::int64_t> rounds;
  bool same_clients = false;

  bool from_file() const { return std::filesystem::is_regular_file(source); }
  std::string run_folder() const {
    if (!from_file()) return source;
    const auto parent = std::filesystem::path(source).parent_path();
    return parent.empty() ? "." : parent.string();
  }
};

constexpr const char* kAdaptExamples =
    "Examples:\n"
    "  fedpp adapt out --set data.train=new.csv --set data.clients=1 --out new\n"
    "  mpirun -n 4 fedpp adapt out --set data.client_files='new{client}.csv' --set data.clients=12 --out new --rounds "
    "50\n"
    "  mpirun -n 4 fedpp adapt out --continue --rounds 10 --out grown      the files of 'out' have grown";

std::string checkpoint_of(const AdaptOptions& options) {
  if (options.from_file()) return options.source;
  const auto newest = io::newest_checkpoint(options.source);
  if (!newest) throw UserError(fmt::format("{} holds no checkpoint: train there first", options.source));
  return newest->path;
}

/// New clients bring all their data, train alone and in every round.
const std::vector<std::string> kNewClients = {"data.train=[]",
                                              "data.validation=[]",
                                              "data.test=[]",
                                              "data.windows=[]",
                                              "data.client_files=\"\"",
                                              "federation.mode=local",
                                              "training.alignment=0",
                                              "federation.participants=0",
                                              "federation.straggling_period=1",
                                              "federation.client_start=continue",
                                              "aggregation.scope=global",
                                              "attack.kind=none"};

bool names_data(const std::string& override) {
  return override.starts_with("data.train=") || override.starts_with("data.client_files=");
}

config::Config read_config(const AdaptOptions& options) {
  if (options.rounds && (*options.rounds < 1 || *options.rounds > config::kMostRounds))
    throw UserError(fmt::format("--rounds {}: must be in [1, {}]", *options.rounds, config::kMostRounds));
  if (!options.same_clients && std::none_of(options.overrides.begin(), options.overrides.end(), names_data))
    throw UserError(
        "no training data for new clients: name them with --set data.train=FILE,... or --set "
        "data.client_files=PATTERN, or go on with the run's own clients (--continue)");
  std::vector<std::string> overrides;
  if (!options.same_clients) overrides = kNewClients;
  overrides.push_back(fmt::format("federation.rounds={}", kRounds));
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  if (options.rounds) overrides.push_back(fmt::format("federation.rounds={}", *options.rounds));
  config::Config config = read_archived_config(options.run_folder(), overrides);
  if (!options.same_clients && config.federation.mode != config::Mode::kLocal)
    throw UserError(fmt::format(
        "federation.mode = '{}': new clients exchange nothing in 'fedpp adapt'; leave it out, or train them as a "
        "federation with 'fedpp train'",
        config::word(config.federation.mode)));
  if (!options.same_clients) config::reset_keys_without_effect(config);  // what the other run's federation needed
  config.output.directory = options.directory;
  config::check_data_files(config, {});
  return config;
}

int adapt(const AdaptOptions& options) {
  federation::watch_for_signals();
  return run_parallel([&](mpi::Communicator& world) {
    std::string checkpoint;
    const config::Config config = read_on_rank_0(world, [&] {
      auto asked = read_config(options);
      checkpoint = checkpoint_of(options);
      return asked;
    });
    world.broadcast(checkpoint, 0, "configuration");  // the other ranks may see another newest one
    const auto start = options.same_clients ? federation::Start::kContinue : federation::Start::kAdapt;
    return federation::run_training(config, {.start = start, .checkpoint = checkpoint, .state = options.state}, world);
  });
}

}  // namespace

void add_adapt(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<AdaptOptions>();
  CLI::App* command = app.add_subcommand(
      "adapt", "Fit new clients under a trained prior, or go on with a run's clients after data were appended");
  command->footer(kAdaptExamples);
  command->add_option("RUN", options->source, "Folder that 'fedpp train' wrote, or one of its checkpoints")->required();
  add_set_option(*command, options->overrides);
  command->add_option("--out", options->directory, "Folder for results and checkpoints, another than RUN")
      ->type_name("DIR")
      ->required()
      ->check(not_empty);
  command
      ->add_option("--rounds", options->rounds,
                   fmt::format("Rounds of local epochs; with --continue rounds of the federation on top of those done "
                               "(default: {})",
                               kRounds))
      ->transform(as_decimal);
  add_state_option(*command, options->state,
                   "Start from the round with the best validation score, or from the last one");
  command->add_flag("--continue", options->same_clients,
                    "The run's own clients: each goes on from its own weights, with the data that its files hold now");
  command->callback([options, &chosen] { chosen = [options] { return adapt(*options); }; });
}

}  // namespace fedpp::commands
