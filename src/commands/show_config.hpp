// fedpp config: every key with its value
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_show_config(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
