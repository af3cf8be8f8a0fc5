#include "commands/command.hpp"

namespace fedpp::commands {

void add_set_option(CLI::App& command, std::vector<std::string>& overrides) {
  command
      .add_option(
          "--set", overrides,
          "Override one key, as in --set federation.rounds=20; may be given several times. Text needs no quotes, "
          "lists no brackets: --set data.train=a.csv,b.csv (relative to the current folder)")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace fedpp::commands
