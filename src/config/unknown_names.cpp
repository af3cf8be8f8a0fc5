#include "config/unknown_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/suggestion.hpp"

namespace fedpp::config {
namespace {

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const Key& key : keys) names.push_back(key.name);
  return names;
}

}  // namespace

std::string remedy_for_key(const std::string& name, const Section& section, const std::vector<Section>& all) {
  const std::string near = nearest(name, names_of(section.keys));
  if (!near.empty()) return fmt::format("did you mean {}.{}?", section.name, near);
  for (const Section& other : all) {
    for (const Key& key : other.keys) {
      if (key.name == name) return fmt::format("it belongs to [{}]", other.name);
    }
  }
  return fmt::format("[{}] has: {}", section.name, fmt::join(names_of(section.keys), ", "));
}

std::string remedy_for_section(const std::string& name, const std::vector<Section>& all) {
  std::vector<std::string> names;
  for (const Section& section : all) {
    names.push_back(section.name);
    for (const Key& key : section.keys) {
      if (key.name == name) return fmt::format("the key {} belongs under [{}]", name, section.name);
    }
  }
  const std::string near = nearest(name, names);
  if (!near.empty()) return fmt::format("did you mean [{}]?", near);
  return fmt::format("sections are: {}", fmt::join(names, ", "));
}

}  // namespace fedpp::config
