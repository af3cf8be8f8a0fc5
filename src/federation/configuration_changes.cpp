#include "federation/configuration_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "config/dump.hpp"
#include "config/effects.hpp"
#include "io/shown.hpp"

namespace fedpp::federation {

namespace {

/// `config` as it is now: a cosine schedule of the learning rate looks at the last round, and apple's of its penalty.
bool is_binding(std::string_view section, std::string_view key, const config::Config& config) {
  constexpr std::array<std::string_view, 3> free_sections{"evaluation", "output", "backend"};
  if (section == "data" && key == "time_origin") return false;  // for axes
  if (section == "federation" && key == "rounds")
    return config.training.schedule == config::Schedule::kCosine || config.federation.mode == config::Mode::kApple;
  return std::find(free_sections.begin(), free_sections.end(), section) == free_sections.end();
}

/// Files that lie elsewhere: the same names in other folders. That they hold the same training events is asked of the
/// checkpoint's checksums.
bool is_moved(const std::string& key, const nlohmann::ordered_json& now, const nlohmann::ordered_json& then) {
  constexpr std::array<std::string_view, 5> keys{"data.train", "data.validation", "data.test", "data.windows",
                                                 "data.client_files"};
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) return false;
  const auto name = [](const nlohmann::ordered_json& path) {
    return path.is_string() ? std::filesystem::path(path.get<std::string>()).filename() : std::filesystem::path();
  };
  if (now.is_string()) return then.is_string() && name(now) == name(then);
  return now.size() == then.size() && std::equal(now.begin(), now.end(), then.begin(),
                                                 [&](const auto& a, const auto& b) { return name(a) == name(b); });
}

bool is_shape(const std::string& key, const nlohmann::ordered_json& now, const nlohmann::ordered_json& then) {
  constexpr std::array<std::string_view, 9> keys{"model.encoder",        "model.width",      "model.layers",
                                                 "model.mean",           "model.inducing",   "data.clients",
                                                 "model.type_embedding", "model.time_input", "data.realisation"};
  return std::find(keys.begin(), keys.end(), key) != keys.end() ||
         (key == "model.periods" && now.size() != then.size());
}

const nlohmann::ordered_json* find(const nlohmann::ordered_json& json, const std::string& section,
                                   const std::string& key) {
  const auto keys = json.find(section);
  if (keys == json.end()) return nullptr;
  const auto value = keys->find(key);
  return value == keys->end() ? nullptr : &*value;
}

/// Of a value, to show. The run's folder may have any name.
std::string shown(const nlohmann::ordered_json& value) {
  return io::visible(value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::string archive(const config::Config& config) { return config::to_json(config).dump(); }

std::vector<ConfigurationChange> changes_since(const std::string& archived, const config::Config& config) {
  const auto then = nlohmann::ordered_json::parse(archived);
  const auto now = config::to_json(config), defaults = config::to_json(config::earlier_defaults());
  config::Config early = config;  // earlier versions kept "auto" where settle() now says what it means
  early.data.clock = config::Clock::kAuto;
  early.data.split_at = config::SplitAt::kAuto;
  config::settle(early);
  const auto settled = config::to_json(early);
  std::vector<ConfigurationChange> changes;
  for (const auto& [section, keys] : now.items())
    for (const auto& [key, value] : keys.items()) {
      const std::string name = section + "." + key;
      const bool binding = is_binding(section, key, config) && config::has_effect(name, config);
      const auto* before = find(then, section, key);
      if (!before && !binding) continue;  // older versions did not keep these
      if (!before) before = find(defaults, section, key);
      const bool same = *before == value || (*before == "auto" && *find(settled, section, key) == value);
      if (same) continue;
      const bool alters = binding && !is_moved(name, value, *before);
      changes.push_back({name, shown(value), shown(*before), alters, alters && is_shape(name, value, *before)});
    }
  for (const auto& [section, keys] : then.items())
    for (const auto& [key, value] : keys.items())
      if (!find(now, section, key))
        changes.push_back({io::visible(section + "." + key), "unknown to this version", shown(value), true});
  return changes;
}

std::string to_text(const std::vector<ConfigurationChange>& changes, bool binding) {
  std::string text;
  for (const auto& change : changes)
    if (change.binding == binding)
      text += fmt::format("\n  {} = {} (checkpoint: {})", change.key, change.now, change.then);
  return text;
}

}  // namespace fedpp::federation
