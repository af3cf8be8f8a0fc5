// Simulated sequences as files in the layouts that 'fedpp train' reads.
#pragma once

#include <string>
#include <vector>

#include "data/simulate.hpp"

namespace fedpp::commands {

struct SimulationFiles {
  std::string
      out;  ///< .csv, with NAME.windows.csv (and NAME.truth.csv) beside it; or .h5, which holds the windows itself
};

/// Writes the sequences, prints what was written, returns the exit code. Throws UserError for another suffix.
int write_simulation(const SimulationFiles& files, const std::vector<data::SimulatedSequence>& sequences);

/// The sequences of all draws, renumbered in order, and the true intensity of each draw (columns
/// draw,time,f,intensity).
int write_simulation(const SimulationFiles& files, const std::vector<data::CoxDraw>& draws);

}  // namespace fedpp::commands
