#include "mpi/launcher.hpp"

#include <cstdlib>
#include <initializer_list>

namespace fedpp::mpi {

Launch launch() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  return rank && ranks ? Launch{std::atoi(rank), std::atoi(ranks)} : Launch{};
}

int started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* size = std::getenv(name)) return std::atoi(size);
  return 1;
}

}  // namespace fedpp::mpi
