// fedpp probe CASE.h5 --out RESULT.h5 (docs/probe.md)
#pragma once

#include "commands/command.hpp"

namespace fedpp::commands {

void add_probe(CLI::App& app, Action& chosen);

}  // namespace fedpp::commands
