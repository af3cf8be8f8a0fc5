// A file that all ranks write, in turn.
#pragma once

#include <string>

#include "io/partial_file.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// Collective. Rank 0 makes the partial file, is to commit it, and deletes it otherwise; the others learn its name.
io::PartialFile begin_shared_file(mpi::Communicator& world, const std::string& path);

}  // namespace fedpp::federation
