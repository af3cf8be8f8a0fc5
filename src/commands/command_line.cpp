#include "commands/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/help_format.hpp"
#include "commands/version.hpp"
#include "config/suggestion.hpp"

namespace fedpp::commands {
namespace {

constexpr const char* kAbout =
    "fedpp - federated Bayesian point processes on HPC machines.\n"
    "Clients with event sequences of their own train neural sigmoidal Gaussian Cox processes together; they\n"
    "exchange distributions of weights. Start it under mpirun or srun to use several ranks.\n";

constexpr const char* kProgramExamples =
    "Examples:\n"
    "  fedpp config > run.toml                         every key with its default, to start from\n"
    "  fedpp train run.toml --validate-only            check it on the login node\n"
    "  mpirun -n 4 fedpp train run.toml --out out      train on four ranks\n"
    "  mpirun -n 8 fedpp train run.toml --out out --resume\n"
    "  fedpp status out                                round, time left, scores, last checkpoint\n"
    "  fedpp report out                                one HTML page with all figures\n"
    "  fedpp evaluate out                              scores beside the trivial models\n"
    "  fedpp compare out other                         finished runs side by side\n"
    "  fedpp adapt out --set data.train=new.csv --set data.clients=1 --out new      a new client\n"
    "  fedpp COMMAND --help                            all options of a command\n"
    "\n"
    "Exit codes: 0 success, 1 failure at run time, 2 the user's mistake (usage, configuration, data),\n"
    "75 training stopped by SIGUSR1, SIGTERM or SIGINT after a checkpoint: start it again with --resume.";

/// A misspelt command (or process to simulate) gets a suggestion; CLI11 would only call it unexpected.
void refuse_unknown(const CLI::App& app, const std::string& word, const std::string& kind, const std::string& help) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    if (names.back() == word) return;
  }
  const std::string near = config::nearest(word, names);
  throw UsageError(fmt::format("unknown {} '{}': {}", kind, word,
                               near.empty() ? fmt::format("there are {}; see {}", fmt::join(names, ", "), help)
                                            : fmt::format("did you mean '{}'?", near)));
}

/// The command whose arguments they are: "simulate poisson" is two deep.
const CLI::App& innermost(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : innermost(*commands.front());
}

/// What helps with the first argument that no option takes; "" where nothing is known. CLI11 names them without a word.
std::string advice_on_extras(const CLI::App& command) {
  const auto extras = command.remaining(/*recurse=*/true);
  if (extras.empty()) return "";
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (word.starts_with("--")) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    const std::string near = config::nearest(word, names);
    return near.empty() ? "" : fmt::format("unknown option '{}': did you mean '{}'?", word, near);
  }
  if (command.get_option_no_throw("--set") && word.find('.') != std::string::npos && word != extras.front())
    return fmt::format("'{0}' belongs to no option: each key has a --set of its own, here --set {0}", extras.front());
  return "";
}

}  // namespace

Action read_command_line(int argc, char** argv) {
  CLI::App app(kAbout, "fedpp");
  app.footer(kProgramExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "Print version, git revision and the libraries built with");
  app.formatter(std::make_shared<HelpFormat>());
  app.get_help_ptr()->description("Print this help");

  Action chosen;
  add_train(app, chosen);
  add_evaluate(app, chosen);
  add_predict(app, chosen);
  add_adapt(app, chosen);
  add_status(app, chosen);
  add_report(app, chosen);
  add_compare(app, chosen);
  add_checkpoint(app, chosen);
  add_import(app, chosen);
  add_info(app, chosen);
  add_simulate(app, chosen);
  add_probe(app, chosen);
  add_show_config(app, chosen);

  if (argc < 2) throw UsageError("no command given\n\n" + app.help());
  if (argv[1][0] != '-') refuse_unknown(app, argv[1], "command", "fedpp --help");
  if (argc > 2 && argv[1] == std::string("simulate") && argv[2][0] != '-')
    refuse_unknown(*app.get_subcommand("simulate"), argv[2], "process", "fedpp simulate --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = app.exit(asked);
    return [code] { return code; };
  } catch (const CLI::ParseError& error) {
    if (const auto advice = advice_on_extras(innermost(app)); !advice.empty()) throw UsageError(advice);
    throw UsageError(fmt::format("{} (see fedpp {}{}--help)", error.what(), argv[1][0] != '-' ? argv[1] : "",
                                 argv[1][0] != '-' ? " " : ""));
  }
  return chosen;
}

}  // namespace fedpp::commands
