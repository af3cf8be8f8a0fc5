// The commands, each in the source of its name, and what they are made of.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "commands/action.hpp"
#include "federation/kept_state.hpp"
#include "io/number.hpp"

namespace fedpp::commands {

/// Each adds its command and options to the command line and, where the user chose it, leaves what to do in `chosen`.
void add_train(CLI::App& app, Action& chosen);
void add_evaluate(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen);
void add_adapt(CLI::App& app, Action& chosen);
void add_status(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_checkpoint(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);
void add_info(CLI::App& app, Action& chosen);
void add_simulate(CLI::App& app, Action& chosen);
void add_probe(CLI::App& app, Action& chosen);
void add_show_config(CLI::App& app, Action& chosen);

/// --set section.key=value, as often as wanted; each takes one argument, so that a file may follow.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);

/// --state best or last.
void add_state_option(CLI::App& command, federation::KeptState& state, const std::string& help);

/// Transforms a whole number into the decimal one that people read in it: CLI11 takes 010 for 8.
inline const auto as_decimal = [](const std::string& text) {
  const auto value = io::number<std::int64_t>(text);
  if (!value) throw CLI::ValidationError(fmt::format("{}: must be a whole number that 64 bits hold", text));
  return std::to_string(*value);
};

/// The same for a seed: what has a sign or is beyond what the number holds would be another seed.
inline const auto as_seed = [](const std::string& text) {
  const auto value = io::whole_number(text);
  if (!value)
    throw CLI::ValidationError(
        fmt::format("{}: must be a whole number from 0 to {}", text, std::numeric_limits<std::int64_t>::max()));
  return std::to_string(*value);
};

/// Refuses '' for a file or folder: most often a variable of a script that was never set.
inline const auto not_empty = [](const std::string& value) {
  return value.empty() ? std::string("the name is empty; leave the option out for its default") : std::string();
};

}  // namespace fedpp::commands
