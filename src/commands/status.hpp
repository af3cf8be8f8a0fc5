// fedpp status
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_status(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
