// The resolved configuration that a training run keeps in its folder.
#pragma once

#include <string>
#include <vector>

#include "config/options.hpp"

namespace fedpp::commands {

/// DIR/config.toml with overrides; output.directory becomes DIR, wherever the folder was moved. Throws UserError.
config::Config read_archived_config(const std::string& directory, const std::vector<std::string>& overrides);

}  // namespace fedpp::commands
