// Commands that run on all ranks of mpirun or srun.
#pragma once

#include <functional>

#include "config/read.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::commands {

/// Starts MPI, runs `body` and ends MPI; returns the body's exit code. A failure on one rank ends all ranks with its
/// text: exit code 2 for a user's mistake, 1 otherwise. One that all ranks share is printed once.
int run_parallel(const std::function<int(mpi::Communicator& world)>& body);

/// The configuration that `read` gives on rank 0, the same on every rank: files are read once, and a mistake in them is
/// reported once, as a UserError on rank 0 and a SharedFailure on the others. Collective.
config::Config read_on_rank_0(mpi::Communicator& world, const std::function<config::Config()>& read);

/// Thrown on the ranks that have nothing to add to what rank 0 prints.
struct SharedFailure {
  int exit_code;
};

}  // namespace fedpp::commands
