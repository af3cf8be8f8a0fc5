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

/// Runs of one configuration and of another, `ours` and `theirs`, that differ by federation.seed (and [backend]) within: a table of the
/// seeds, each with the difference of its two runs, whose mean has the standard error of the seeds. Of a seed's two runs
/// clients are left out as by compare(). Throws UserError where the seeds of the two are not the same, where a
/// configuration is not one, and where a seed's two runs are not scored on the same data.
std::string compare_over_seeds(std::vector<FinishedRun> ours, std::vector<FinishedRun> theirs);

}  // namespace fedpp::federation
