// fedpp compare
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_compare(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
