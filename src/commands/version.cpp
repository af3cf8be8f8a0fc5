#include "commands/version.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "commands/built_with.hpp"
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
                     git_dirty() ? ", with changes" : "", kKokkosVersion, kKokkosDevices, mpi, kHdf5Version);
}

}  // namespace fedpp::commands
