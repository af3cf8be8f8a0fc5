// Simulated sequences as files in the layouts that 'fedpp train' reads.
#pragma once

#include <string>
#include <vector>

#include "data/simulate.hpp"

namespace fedpp::commands {

/// Before anything is drawn. `out`: .csv, with NAME.windows.csv (and NAME.truth.csv) beside it; or .h5, which holds the
/// windows itself. Throws UserError for another suffix, io::Error where a file could not be written.
/// \param truth whether the true intensity is written, too
void check_simulation_files(const std::string& out, bool truth);

/// Writes the sequences, prints what was written, returns the exit code.
int write_simulation(const std::string& out, const std::vector<data::SimulatedSequence>& sequences);

/// The sequences of all draws, renumbered in order, and the true intensity of each draw (columns
/// draw,time,f,intensity).
int write_simulation(const std::string& out, const std::vector<data::CoxDraw>& draws);

}  // namespace fedpp::commands
