#include "mpi/launcher.hpp"

#include <cstdlib>

namespace fedpp::mpi {

Launch launch() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  return rank && ranks ? Launch{std::atoi(rank), std::atoi(ranks)} : Launch{};
}

}  // namespace fedpp::mpi
