// fedpp predict DIR
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_predict(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
