// What launchers say in the environment, for what happens before MPI starts.
#pragma once

namespace fedpp::mpi {

struct Launch {
  int rank = 0, ranks = 1;
};

/// This process among those that Open MPI's mpirun started together. Alone under anything else: the tasks of srun may
/// be programs for themselves, each with a command line of its own.
Launch launch();

/// How many processes a launcher says it started together with this one, by what mpirun or srun leave in the
/// environment. To be asked before MPI starts, which may write such variables itself.
int started_together();

}  // namespace fedpp::mpi
