// What the command line comes to: an action, its exit code, or a mistake in the words themselves. Apart from
// command.hpp, so that who only acts does not read the library that parses.
#pragma once

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

}  // namespace fedpp::commands
