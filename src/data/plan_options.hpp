// What the options say of the data before a file is opened.
#pragma once

#include <vector>

#include "config/options.hpp"
#include "data/dataset.hpp"

namespace fedpp::data {

/// \throws UserError where they contradict each other
void check_options(const config::Data& options);

/// The files in the order in which they are read. \throws UserError where windows tables are too few or too many
std::vector<Source> list_sources(const config::Data& options);

}  // namespace fedpp::data
