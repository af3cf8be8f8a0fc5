// Checks that need more than one key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/effects.hpp"
#include "config/options.hpp"

namespace fedpp::config {

/// Where values were given: "section.key" -> "run.toml:12:3" or "--set section.key=value". Keys left at their defaults
/// are absent.
using Origins = std::map<std::string, std::string>;

/// Checks every key's allowed values and what keys demand of each other, and refuses the keys in `idle`. Throws
/// UserError listing every mistake, each with where it was given, key, value and remedy. Touches no file.
void validate(const Config& config, const Origins& origins = {}, const std::vector<WithoutEffect>& idle = {});

/// The group of lists of files among which a file may be named once, or its events would count twice: 'chronological'
/// joins all lists, the other protocols may validate on and score what another list holds.
std::string_view list_group(const Data& data, std::string_view key);

/// Throws UserError with all texts, one a line, unless there is none.
void throw_if_any(const std::vector<std::string>& mistakes);

}  // namespace fedpp::config
