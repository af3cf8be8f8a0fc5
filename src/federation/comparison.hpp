// Finished runs side by side.
#pragma once

#include <string>
#include <vector>

#include "federation/finished_run.hpp"

namespace fedpp::federation {

/// A table of the runs' scores, each with its difference from the first one, and the settings that are not alike.
/// Clients that are hostile or without a score in any run are left out of all. Throws UserError where the scores are
/// not of the same test events and windows.
std::string compare(std::vector<FinishedRun> runs);

}  // namespace fedpp::federation
