// Checks that need more than one key.
#pragma once

#include <map>
#include <string>
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

/// Checks that the data files named can be opened for reading and are different ones (client_files excepted: only their
/// owners hold them). Throws UserError listing those that cannot.
void check_data_files(const Config& config, const Origins& origins = {});

/// The same of every client's own files, where data.client_files names them: for a machine that holds all of them.
void check_client_files(const Config& config, const Origins& origins = {});

/// Throws UserError with all texts, one a line, unless there is none.
void throw_if_any(const std::vector<std::string>& mistakes);

}  // namespace fedpp::config
