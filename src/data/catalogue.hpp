// What every rank knows of the common files.
#pragma once

#include "data/dataset.hpp"

namespace fedpp::data {

/// Reads plan.sources: their sequences, clients, types, names and extents.
/// \throws UserError where files contradict each other or the options
void read_catalogue(Plan& plan);

}  // namespace fedpp::data
