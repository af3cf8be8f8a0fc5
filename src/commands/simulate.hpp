// fedpp simulate MODEL --out OUT
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_simulate(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
