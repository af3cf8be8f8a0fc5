// Where this rank runs, in words: for the log, and for whoever asks which process is on which device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

/// "host n1, process 4711, SLURM job 12_3": the last part only under SLURM.
std::string whereabouts();

struct RanksExamined {
  std::vector<std::string> lines;     ///< one a rank: host, process, cores, device
  std::vector<std::string> warnings;  ///< ranks with more threads than cores, alone or together; cores without a thread
};

/// Collective. Every rank examines its device, by `examine` (gpu::examine_device in a run); one that fails its
/// self-test, or cannot go through it, ends the run with rank, host and device. The texts are rank 0's.
RanksExamined examine_ranks(mpi::Communicator& world, const std::function<gpu::Device()>& examine);

/// How many ranks have each rank's device, by gpu::device_identity() of each; 1 where that is not known.
std::vector<std::int64_t> sharers(const std::vector<std::string>& devices);

/// Collective. Ranks with the same device share its memory: gpu::share_device.
void share_devices(mpi::Communicator& world);

/// Now, in UTC: "2026-11-21T21:25:03Z".
std::string timestamp();

}  // namespace fedpp::federation
