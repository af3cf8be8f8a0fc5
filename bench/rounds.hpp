// Whole rounds of the fixed workloads (bench/workloads.hpp), on all ranks.
#pragma once

#include "mpi/communicator.hpp"

namespace fedpp::bench {

/// Registers round/a .. round/d, and round/a/mixed .. in mixed precision. `world` must outlive the benchmarks' run.
void register_rounds(mpi::Communicator& world);

}  // namespace fedpp::bench
