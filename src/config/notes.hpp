// What a person should know about a valid configuration before it runs.
#pragma once

#include <string>
#include <vector>

#include "config/options.hpp"

namespace fedpp::config {

/// A line each.
std::vector<std::string> notes(const Config& config);

}  // namespace fedpp::config
