// Who holds which sequences of the common files.
#pragma once

#include "data/dataset.hpp"

namespace fedpp::data {

/// Fills plan.holdings: by the clients that the files name, else by dealing.
/// \throws UserError where data.clients does not fit the sequences
void deal(Plan& plan);

}  // namespace fedpp::data
