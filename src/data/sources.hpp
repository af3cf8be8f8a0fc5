// The files that the options name.
#pragma once

#include <vector>

#include "config/options.hpp"
#include "data/dataset.hpp"

namespace fedpp::data {

/// In the order in which they are read, each with its table of windows.
std::vector<Source> list_sources(const config::Data& options);

}  // namespace fedpp::data
