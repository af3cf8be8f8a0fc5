// How --help lays out options: names and values as they are typed, descriptions wrapped beside them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fedpp::commands {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace fedpp::commands
