// A configuration as text: TOML to read and to edit, JSON for results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "config/options.hpp"

namespace fedpp::config {

/// Documented TOML of every key: help, allowed values, value. Reading it back gives the same configuration to the last
/// bit.
std::string dump(const Config& config);

/// {"data": {"train": [...], ...}, "model": {...}, ...} with every key.
nlohmann::ordered_json to_json(const Config& config);

}  // namespace fedpp::config
