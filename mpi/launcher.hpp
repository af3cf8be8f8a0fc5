// What mpirun says in the environment, for what happens before MPI starts.
#pragma once

namespace fedpp::mpi {

struct Launch {
  int rank = 0, ranks = 1;
};

/// This process among those that Open MPI's mpirun started together. Alone under anything else: the tasks of srun may
/// be programs for themselves, each with a command line of its own.
Launch launch();

}  // namespace fedpp::mpi
