// fedpp evaluate DIR
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_evaluate(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
