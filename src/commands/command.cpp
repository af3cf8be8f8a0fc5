#include "commands/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void add_state_option(CLI::App& command, federation::KeptState& state, const std::string& help) {
  const auto& allowed = config::kWords<federation::KeptState>;
  command
      .add_option_function<std::string>(
          "--state", [&state](const std::string& word) { state = *config::from_word<federation::KeptState>(word); },
          help)
      ->type_name(fmt::format("{}", fmt::join(allowed, "|")))
      ->check(CLI::IsMember(std::vector<std::string>(allowed.begin(), allowed.end())).description(""))
      ->default_str(std::string(config::word(state)));
}

}  // namespace fedpp::commands
