// fedpp import IN... --out OUT.h5
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_import(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
