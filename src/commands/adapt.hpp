// fedpp adapt RUN
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_adapt(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
