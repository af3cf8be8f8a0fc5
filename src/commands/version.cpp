#include "commands/version.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "config/version.hpp"
#include "mpi/error.hpp"

namespace fedpp::commands {

std::string version_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  mpi::check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string mpi(text, length);
  mpi = mpi.substr(0, mpi.find_first_of(",\n"));
  return fmt::format("fedpp {} (git {}{})\nKokkos {} [{}]\n{}\nHDF5 {}", version(), git_revision(),
                     git_dirty() ? ", with changes" : "", FEDPP_KOKKOS_VERSION, FEDPP_KOKKOS_DEVICES, mpi,
                     FEDPP_HDF5_VERSION);
}

}  // namespace fedpp::commands
