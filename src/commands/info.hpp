// fedpp info FILE...
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_info(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
