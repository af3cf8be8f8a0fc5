#include "federation/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include "gpu/device.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

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

std::string allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "?";
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
}

std::vector<std::string> examine_ranks(mpi::Communicator& world) {
  gpu::Device device;
  mpi::together(world, [&] {
    device = gpu::examine_device();
    if (!device.fault.empty())
      throw std::runtime_error(fmt::format("rank {}, {}, {}: self-test failed: {}; leave this node out and start again",
                                           world.rank(), whereabouts(), device.name, device.fault));
  });
  return world.gather(fmt::format("rank {}: {}, cores {}, {}, self-test passed", world.rank(), whereabouts(),
                                  allowed_cores(), device.name),
                      0, "placement");
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
