// What every command is made of: add_<command>() adds its options to the command line and, where the user chose it,
// leaves what to do in `chosen`.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "commands/action.hpp"
#include "federation/kept_state.hpp"
#include "io/whole_number.hpp"

namespace fedpp::commands {

/// --set section.key=value, as often as wanted; each takes one argument, so that a file may follow.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);

/// --state best or last.
void add_state_option(CLI::App& command, federation::KeptState& state, const std::string& help);

/// Refuses a seed that is none: text for a number may have a sign or be beyond what the number holds, and would be another
/// seed.
inline const auto is_seed = [](const std::string& value) {
  if (io::whole_number(value)) return std::string();
  return fmt::format("{}: must be a whole number from 0 to {}", value, std::numeric_limits<std::int64_t>::max());
};

/// Refuses '' for a file or folder: most often a variable of a script that was never set.
inline const auto not_empty = [](const std::string& value) {
  return value.empty() ? std::string("the name is empty; leave the option out for its default") : std::string();
};

}  // namespace fedpp::commands
