// What asks a training to stop in good order: SIGUSR1, SIGTERM and SIGINT.
#pragma once

#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// From now on these signals ask the training to end after its round. SIGINT does so once, and a second one ends the
/// process at once; where it is ignored (a shell's background jobs), it stays so.
void watch_for_signals();

/// The last of them that this process got; 0: none.
int stop_signal();

/// Collective. One that any rank got; 0: none.
int stop_signal_of_any(mpi::Communicator& world);

/// Throws mpi::Interrupted where this process got one: for the parts, within mpi::together, of what may take long after
/// the rounds.
void stop_if_asked();

}  // namespace fedpp::federation
