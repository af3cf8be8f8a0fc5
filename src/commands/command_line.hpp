// The whole command line of fedpp.
#pragma once

#include "commands/action.hpp"

namespace fedpp::commands {

/// Reads the arguments. Returns what to do; --help and --version are done by printing. Throws UsageError for wrong
/// usage. Starts neither MPI nor Kokkos.
Action read_command_line(int argc, char** argv);

}  // namespace fedpp::commands
