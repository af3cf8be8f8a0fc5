// What every command is made of: add_<command>() adds its options to the command line and, where the user chose it,
// leaves what to do in `chosen`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "config/error.hpp"

namespace fedpp::commands {

/// Does the chosen command and returns the exit code; throws on failure.
using Action = std::function<int()>;

/// A command line that cannot be meant: the same mistake on all ranks, before they know of each other.
struct UsageError : UserError {
  using UserError::UserError;
};

/// Exit codes.
inline constexpr int kSuccess = 0;
inline constexpr int kRuntimeFailure = 1;
inline constexpr int kUserMistake = 2;  ///< usage, configuration, data, a malformed probe case

/// --set section.key=value, as often as wanted; each takes one argument, so that a file may follow.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);

/// Refuses '' for a file or folder: most often a variable of a script that was never set.
inline const auto not_empty = [](const std::string& value) {
  return value.empty() ? std::string("the name is empty; leave the option out for its default") : std::string();
};

}  // namespace fedpp::commands
