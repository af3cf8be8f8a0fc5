// fedpp train CONFIG.toml
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_train(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
