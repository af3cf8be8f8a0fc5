#include "config/dump.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "config/keys.hpp"

namespace fedpp::config {
namespace {

/// `text` as comment lines of at most 100 columns.
std::string comment(const std::string& text) {
  std::istringstream words(text);
  std::string out, line = "#", word;
  while (words >> word) {
    if (line.size() + 1 + word.size() > 100) {
      out += line + "\n";
      line.assign(1, '#');
    }
    line += " " + word;
  }
  return out + line + "\n";
}

}  // namespace

std::string dump(const Config& config) {
  Config copy = config;  // the list of keys hands out pointers to non-const members
  std::string out;
  for (const Section& section : sections(copy)) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{}[{}]\n", comment(section.help), section.name);
    for (const Key& key : section.keys) {
      out += fmt::format("{}{} = {}\n", comment(fmt::format("{} ({})", key.help, key.allowed_text())), key.name,
                         key.value_text());
    }
  }
  return out;
}

nlohmann::ordered_json to_json(const Config& config) {
  Config copy = config;
  nlohmann::ordered_json json;
  for (const Section& section : sections(copy)) {
    for (const Key& key : section.keys) {
      auto& value = json[section.name][key.name];
      std::visit(Overloaded{[&](const ChosenWord& chosen) { value = chosen.get(); },
                            [&](const auto* member) { value = *member; }},
                 key.target);
    }
  }
  return json;
}

}  // namespace fedpp::config
