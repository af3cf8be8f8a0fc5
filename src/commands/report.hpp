// fedpp report
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_report(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
