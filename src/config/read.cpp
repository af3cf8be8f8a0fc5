// The only file that compiles toml++.
#include "config/read.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "config/deep_key.hpp"
#include "config/error.hpp"
#include "config/keys.hpp"
#include "config/unknown_names.hpp"

namespace fedpp::config {
namespace {

/// A TOML value as it would be written, or what kind it is where that would be long.
std::string description(const toml::node& node) {
  if (const auto* x = node.as_string()) return toml_string(x->get());
  if (const auto* x = node.as_integer()) return fmt::format("{}", x->get());
  if (const auto* x = node.as_floating_point()) return fmt::format("{}", x->get());
  if (const auto* x = node.as_boolean()) return x->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

bool assign(bool& member, const toml::node& node) {
  const auto* value = node.as_boolean();
  if (value) member = value->get();
  return value;
}
bool assign(std::int64_t& member, const toml::node& node) {
  const auto* value = node.as_integer();
  if (value) member = value->get();
  return value;
}
bool assign(double& member, const toml::node& node) {
  if (const auto* integer = node.as_integer()) {
    member = static_cast<double>(integer->get());
    return true;
  }
  const auto* value = node.as_floating_point();
  if (value) member = value->get();
  return value;
}
bool assign(std::string& member, const toml::node& node) {
  const auto* value = node.as_string();
  if (value) member = value->get();
  return value;
}
bool assign(const ChosenWord& chosen, const toml::node& node) {
  const auto* text = node.as_string();
  return text && chosen.set(text->get());
}
template <class T>
bool assign(std::vector<T>& member, const toml::node& node) {
  const auto* list = node.as_array();
  if (!list) return false;
  std::vector<T> items(list->size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!assign(items[i], *list->get(i))) return false;
  }
  member = std::move(items);
  return true;
}

void make_absolute(Data& data, const std::filesystem::path& folder) {
  const auto absolute = [&](std::string& file) {
    if (!file.empty()) file = (std::filesystem::current_path() / folder / file).lexically_normal().string();
  };
  for (auto* files : {&data.train, &data.validation, &data.test, &data.windows}) {
    for (std::string& file : *files) absolute(file);
  }
  absolute(data.client_files);
}

/// Whether a file is named as the data that a configuration names.
bool is_data(std::string_view name) {
  constexpr std::array<std::string_view, 7> endings = {".csv", ".gz", ".json", ".jsonl", ".h5", ".hdf5", ".tsv"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view end) { return name.ends_with(end); });
}

class Reader {
 public:
  void file(const std::string& text, const std::string& name) {
    if (const int line = line_of_deep_key(text); line > 0)
      throw UserError(
          fmt::format("{}:{}: a key of more than 64 parts: keys are a section's, as in federation.rounds", name, line));
    toml::table table;
    try {
      table = toml::parse(text, name);
    } catch (const toml::parse_error& error) {
      throw UserError(fmt::format("{}:{}:{}: not valid TOML: {}{}", name, error.source().begin.line,
                                  error.source().begin.column, error.description(),
                                  is_data(name) ? ": a configuration is wanted here, as 'fedpp config' prints one; it "
                                                  "names the data (data.train)"
                                                : ""));
    }
    for (const auto& [section_key, node] : table) {
      const std::string section_name(section_key.str());
      const Section* section = find(section_name);
      if (!section) {
        mistakes_.push_back(fmt::format("{}: unknown section [{}]: {}", position(name, section_key.source()),
                                        section_name, remedy_for_section(section_name, sections_)));
      } else if (!node.is_table()) {
        mistakes_.push_back(fmt::format("{}: {} = {}: is a section: write [{}] on a line of its own and its keys below",
                                        position(name, node.source()), section_name, description(node), section_name));
      } else {
        for (const auto& [key, value] : *node.as_table()) {
          set(*section, std::string(key.str()), value, position(name, key.source()));
        }
      }
    }
  }

  /// "section.key=value"
  void override_with(const std::string& text) {
    const std::string origin = "--set " + text;
    const std::size_t equals = text.find('='), dot = text.find('.');
    if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
      mistakes_.push_back(
          fmt::format("{}: not of the form section.key=value, as in --set federation.rounds=20", origin));
      return;
    }
    const std::string section_name = text.substr(0, dot), name = text.substr(dot + 1, equals - dot - 1);
    const std::string value = text.substr(equals + 1);
    const Section* section = find(section_name);
    if (!section) {
      mistakes_.push_back(
          fmt::format("{}: unknown section {}: {}", origin, section_name, remedy_for_section(section_name, sections_)));
      return;
    }
    const Key* key = find(*section, name);
    if (line_of_deep_key(value) > 0) {
      mistakes_.push_back(
          fmt::format("--set {}.{}: a key of more than 64 parts stands in the value", section_name, name));
      return;
    }
    try {
      const toml::table table = toml::parse("value = " + (key ? as_toml(*key, value) : "0"));
      set(*section, name, *table.get("value"), origin);
    } catch (const toml::parse_error&) {
      mistakes_.push_back(fmt::format("{}: expected {}", origin, key->allowed_text()));
    }
  }

  Config config;
  Origins origins;

  void throw_mistakes() const { throw_if_any(mistakes_); }

 private:
  static std::string position(const std::string& name, const toml::source_region& region) {
    return fmt::format("{}:{}:{}", name, region.begin.line, region.begin.column);
  }

  const Section* find(const std::string& name) const {
    for (const Section& section : sections_) {
      if (section.name == name) return &section;
    }
    return nullptr;
  }
  static const Key* find(const Section& section, const std::string& name) {
    for (const Key& key : section.keys) {
      if (key.name == name) return &key;
    }
    return nullptr;
  }

  void set(const Section& section, const std::string& name, const toml::node& value, const std::string& origin) {
    const Key* key = find(section, name);
    if (!key) {
      mistakes_.push_back(fmt::format("{}: unknown key {}.{}: {}", origin, section.name, name,
                                      remedy_for_key(name, section, sections_)));
    } else if (!std::visit(Overloaded{[&](const ChosenWord& chosen) { return assign(chosen, value); },
                                      [&](auto* member) { return assign(*member, value); }},
                           key->target)) {
      const bool unknown_word = std::holds_alternative<ChosenWord>(key->target) && value.is_string();
      mistakes_.push_back(fmt::format("{}: {} = {}: {} {}", origin, key->full_name(), description(value),
                                      unknown_word ? "allowed are" : "expected", key->allowed_text()));
    } else {
      origins[key->full_name()] = origin;
    }
  }

  /// An override's text as a TOML value of the key's type: text without quotes, lists without brackets.
  static std::string as_toml(const Key& key, const std::string& text) {
    const bool one_string =
        std::holds_alternative<std::string*>(key.target) || std::holds_alternative<ChosenWord>(key.target);
    const bool strings = std::holds_alternative<std::vector<std::string>*>(key.target);
    const bool numbers = std::holds_alternative<std::vector<std::int64_t>*>(key.target) ||
                         std::holds_alternative<std::vector<double>*>(key.target);
    const char first = text.empty() ? ' ' : text.front();
    if (one_string) return first == '"' || first == '\'' ? text : toml_string(text);
    if (numbers) return first == '[' ? text : "[" + text + "]";
    if (!strings || first == '[') return text;
    std::istringstream items(text);
    std::string list, item;
    while (std::getline(items, item, ',')) list += toml_string(item) + ",";
    return "[" + list + "]";
  }

  std::vector<Section> sections_ = sections(config);
  std::vector<std::string> mistakes_;
};

/// Whether a size is given to a partition that is not: 'heterogeneous' was the default of earlier versions, and nobody
/// who counts on it should find all types at all clients.
bool counts_on_heterogeneous(const Resolved& all) {
  return all.origins.contains("data.types_per_client") && !all.origins.contains("data.partition") &&
         all.config.data.client_files.empty();
}

/// The keys without effect to refuse; of a program's file only overrides. `file`: before the overrides.
std::vector<WithoutEffect> idle_keys(const Config& file, const Resolved& all, Written written) {
  auto idle = keys_without_effect(all.config, file);
  std::erase_if(idle, [&](const WithoutEffect& key) {
    const auto origin = all.origins.find(key.key);
    const bool overridden = origin != all.origins.end() && origin->second.starts_with("--set ");
    return written == Written::kByTheProgram && !overridden;
  });
  // A file with all keys is one that the program printed, perhaps an earlier version with the defaults of then.
  if (all.origins.size() >= number_of_keys())
    std::erase_if(idle, [&](const WithoutEffect& key) { return is_earlier_default(key.key, all.config); });
  const std::string types = "data.types_per_client";
  if (written == Written::kByAPerson && counts_on_heterogeneous(all) &&
      std::none_of(idle.begin(), idle.end(), [&](const WithoutEffect& key) { return key.key == types; }))
    idle.push_back({types, "data.partition = \"heterogeneous\", which is not the default"});
  return idle;
}

}  // namespace

Resolved read_text(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                   const std::vector<std::string>& overrides, Written written) {
  Reader reader;
  if (written == Written::kByTheProgram) reader.config = earlier_defaults();  // of keys that came later
  reader.file(text, name);
  make_absolute(reader.config.data, folder);
  const Config file = reader.config;
  for (const std::string& override_text : overrides) reader.override_with(override_text);
  make_absolute(reader.config.data, std::filesystem::current_path());
  reader.throw_mistakes();
  settle(reader.config);
  if (!reader.origins.contains("federation.participants"))
    reader.config.federation.participants = std::min(reader.config.federation.participants, reader.config.data.clients);
  const Resolved all{reader.config, reader.origins};
  validate(all.config, all.origins, idle_keys(file, all, written));
  return all;
}

Resolved read(const std::filesystem::path& file, const std::vector<std::string>& overrides, Written written) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw UserError(fmt::format("{}: is a folder, not a configuration file (TOML)", file.string()));
  }
  if (std::filesystem::is_character_file(file, ignored) || std::filesystem::is_block_file(file, ignored))
    throw UserError(fmt::format("{}: is a device, not a configuration file (TOML)", file.string()));
  std::ifstream stream(file);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || text.bad()) {
    throw UserError(
        fmt::format("{}: cannot read this configuration file: check the path; 'fedpp config' prints one to "
                    "start from",
                    file.string()));
  }
  return read_text(text.str(), file.string(), file.parent_path(), overrides, written);
}

}  // namespace fedpp::config
