// Failures that are the machine's and not the user's.
#pragma once

#include "mpi/turns.hpp"

namespace fedpp::federation {

/// What cannot be written in the middle of a run, as on a full disk, is no mistake in what the program was given: its
/// exit code lets a job script try again.
template <class F>
void as_the_machines_fault(F&& f) {
  try {
    f();
  } catch (mpi::AgreedError& error) {
    if (error.kind == mpi::ErrorKind::kMistake) error.kind = mpi::ErrorKind::kFailure;
    throw;
  }
}

}  // namespace fedpp::federation
