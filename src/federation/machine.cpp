#include "federation/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include "gpu/runtime.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Of each rank "" or what it lacks; the first of them speaks for all.
std::string warning_of(const std::vector<std::string>& crowded) {
  const auto all = std::count_if(crowded.begin(), crowded.end(), [](const auto& text) { return !text.empty(); });
  if (all == 0) return "";
  return fmt::format(
      "{} of {} ranks with more threads than cores, which then wait for each other ({}): give a rank its cores (srun "
      "--cpus-per-task, mpirun --map-by slot:PE=THREADS), or set OMP_NUM_THREADS lower",
      all, crowded.size(),
      *std::find_if(crowded.begin(), crowded.end(), [](const auto& text) { return !text.empty(); }));
}

}  // namespace

std::string whereabouts() {
  char host[256] = "?";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  std::string text = fmt::format("host {}, process {}", host, getpid());
  const char* job = std::getenv("SLURM_JOB_ID");
  if (!job) return text;
  const char* array = std::getenv("SLURM_ARRAY_JOB_ID");
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  return text + (array && task ? fmt::format(", SLURM job {}_{}", array, task) : fmt::format(", SLURM job {}", job));
}

std::string ranges(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t k = 0; k < cores.size(); ++k) {
    const std::size_t first = k;
    while (k + 1 < cores.size() && cores[k + 1] == cores[k] + 1) ++k;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[first]);
    if (k > first) text += fmt::format("-{}", cores[k]);
  }
  return text.empty() ? "?" : text;
}

RanksExamined examine_ranks(mpi::Communicator& world, const std::function<gpu::Device()>& examine) {
  gpu::Device device;
  mpi::together(world, [&] {
    // A device that is ill may throw in the vendor's words, which know no rank and no host.
    const mpi::Failure failure = mpi::failure_of([&] { device = examine(); });
    if (failure.text) device = {"its device", *failure.text};
    if (!device.fault.empty())
      throw std::runtime_error(fmt::format("rank {}, {}, {}: self-test failed: {}; leave this node out and start again",
                                           world.rank(), whereabouts(), device.name, device.fault));
  });
  const auto cores = gpu::usable_cores();
  const bool crowded = !cores.empty() && device.threads > static_cast<int>(cores.size());
  RanksExamined ranks;
  ranks.lines = world.gather(fmt::format("rank {}: {}, cores {}, {}, self-test passed", world.rank(), whereabouts(),
                                         ranges(cores), device.name),
                             0, "placement");
  const auto crowd = world.gather(
      crowded ? fmt::format("rank {}: {} threads, cores {}", world.rank(), device.threads, ranges(cores)) : "", 0,
      "placement");
  ranks.warning = warning_of(crowd);
  return ranks;
}

std::vector<std::int64_t> sharers(const std::vector<std::string>& devices) {
  std::vector<std::int64_t> counts;
  for (const auto& device : devices)
    counts.push_back(device.empty() ? 1 : std::count(devices.begin(), devices.end(), device));
  return counts;
}

void share_devices(mpi::Communicator& world) {
  auto counts = sharers(world.gather(gpu::device_identity(), 0, "placement"));
  counts.resize(static_cast<std::size_t>(world.size()));
  world.broadcast(counts, 0, "placement");
  gpu::share_device(static_cast<int>(counts[static_cast<std::size_t>(world.rank())]));
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace fedpp::federation
