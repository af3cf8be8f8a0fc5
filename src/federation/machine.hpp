// Where this rank runs, in words: for the log, and for whoever asks which process is on which device.
#pragma once

#include <string>
#include <vector>

#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// "host n1, process 4711, SLURM job 12_3": the last part only under SLURM.
std::string whereabouts();

/// The cores that this process may use: "0-3,8".
std::string allowed_cores();

/// Collective. Every rank examines its device; one that fails its self-test ends the run with rank, host and device. On
/// rank 0 a line a rank: host, process, cores, device.
std::vector<std::string> examine_ranks(mpi::Communicator& world);

/// Now, in UTC: "2026-11-21T21:25:03Z".
std::string timestamp();

}  // namespace fedpp::federation
