// Where the ranks' time went, as a table.
#pragma once

#include <string>
#include <vector>

#include "gpu/profile.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// Collective; the table is on rank 0. A line for each phase, region and kernel, indented by nesting: seconds of the
/// rank that spent least, of the mean rank and of the one that spent most, their imbalance (most over mean), calls.
/// Every phase has its line; inside them, lines below a 500th of the ranks' longest total are left out.
std::string phase_table(mpi::Communicator& world, const std::vector<gpu::ProfileEntry>& mine);

}  // namespace fedpp::federation
