#include "commands/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <sstream>
#include <vector>

namespace fedpp::commands {
namespace {

constexpr std::size_t kIndent = 2, kColumn = 24, kWidth = 100;

/// "  NAME   description", the description wrapped beside the name, or below one that is long.
std::string entry(const std::string& name, const std::string& description) {
  std::string text, line = std::string(kIndent, ' ') + name;
  if (line.size() + 2 > kColumn) {
    text = line + "\n";
    line.clear();
  }
  line.resize(kColumn, ' ');
  std::istringstream words(description);
  bool first = true;  // of its line
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line.assign(kColumn, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "-h, --help", "--out DIR".
std::string name_of(const CLI::Option& option) {
  std::string name;
  for (const std::string& part : option.get_snames()) name += (name.empty() ? "-" : ", -") + part;
  for (const std::string& part : option.get_lnames()) name += (name.empty() ? "--" : ", --") + part;
  const std::string type = option.get_type_name();
  if (option.get_type_size() == 0 || type.empty()) return name;  // a flag
  return name + " " + (type == "FLOAT" ? "X" : type == "INT" || type == "UINT" ? "N" : type);
}

}  // namespace

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  if (is_positional)
    return entry(option->get_name(true) + (option->get_expected_max() > 1 ? "..." : ""), option->get_description());
  std::vector<std::string> remarks;
  if (option->get_required()) remarks.emplace_back("required");
  if (!option->get_default_str().empty()) remarks.push_back("default: " + option->get_default_str());
  if (!option->get_needs().empty()) remarks.push_back("only with " + names_of(option->get_needs()));
  if (!option->get_excludes().empty()) remarks.push_back("not with " + names_of(option->get_excludes()));
  return entry(name_of(*option),
               option->get_description() + (remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, ", "))));
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

}  // namespace fedpp::commands
