#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "config/dump.hpp"
#include "config/effects.hpp"
#include "config/error.hpp"
#include "config/read.hpp"

namespace fedpp::commands {
namespace {

struct ShowConfigOptions {
  std::string config_file;
  std::vector<std::string> overrides;
};

constexpr const char* kShowConfigExamples =
    "Examples:\n"
    "  fedpp config > run.toml\n"
    "  fedpp config run.toml --set model.encoder=rbf";

int show_config(const ShowConfigOptions& options) {
  if (options.config_file.empty() && !options.overrides.empty()) {
    throw UserError("--set needs a configuration file here: fedpp config CONFIG.toml --set ...");
  }
  config::Config config =
      options.config_file.empty() ? config::Config{} : config::read(options.config_file, options.overrides).config;
  config::reset_keys_without_effect(config);  // which a file that is read again must not have
  fmt::print("{}", config::dump(config));
  return kSuccess;
}

}  // namespace

void add_show_config(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ShowConfigOptions>();
  CLI::App* command =
      app.add_subcommand("config", "Print every key with help, allowed values and default, or a file's values");
  command->footer(kShowConfigExamples);
  command->add_option("CONFIG", options->config_file, "Configuration file (default: none, the defaults are printed)");
  add_set_option(*command, options->overrides);
  command->callback([options, &chosen] { chosen = [options] { return show_config(*options); }; });
}

}  // namespace fedpp::commands
