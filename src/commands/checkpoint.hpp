// fedpp checkpoint list|verify|show
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_checkpoint(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
