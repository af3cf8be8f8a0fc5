#include "federation/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "config/counted.hpp"
#include "gpu/runtime.hpp"
#include "io/shown.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Where a rank computes.
struct Seat {
  std::string host;
  int threads = 1;
  std::vector<int> cores;

  bool crowded() const { return !cores.empty() && threads > static_cast<int>(cores.size()); }
};

/// Collective. Of all ranks, on rank 0.
std::vector<Seat> seats_of(mpi::Communicator& world, const Seat& own) {
  std::vector<Seat> seats;
  for (const auto& line :
       world.gather(fmt::format("{} {} {}", own.host, own.threads, fmt::join(own.cores, " ")), 0, "placement")) {
    std::istringstream words(line);
    auto& seat = seats.emplace_back();
    words >> seat.host >> seat.threads;
    for (int core = 0; words >> core;) seat.cores.push_back(core);
  }
  return seats;
}

/// The first rank with more threads than cores speaks for all.
std::string crowded_ranks(const std::vector<Seat>& seats) {
  const auto first = std::ranges::find_if(seats, &Seat::crowded);
  if (first == seats.end()) return "";
  return fmt::format(
      "{} of {} ranks with more threads than cores, which then wait for each other (rank {}: {} threads, cores {}): "
      "give a rank its cores (srun --cpus-per-task, mpirun --map-by slot:PE=THREADS), or set OMP_NUM_THREADS lower",
      std::ranges::count_if(seats, &Seat::crowded), seats.size(), first - seats.begin(), first->threads,
      io::ranges(first->cores));
}

/// The first host whose ranks, none of them crowded by itself, have more threads than cores together.
std::string crowded_host(const std::vector<Seat>& seats) {
  struct Host {
    int ranks = 0, threads = 0;
    std::set<int> cores;
  };
  std::map<std::string, Host> hosts;
  for (const auto& seat : seats) {
    auto& host = hosts[seat.host];
    ++host.ranks;
    host.threads += seat.threads;
    host.cores.insert(seat.cores.begin(), seat.cores.end());
  }
  for (const auto& [name, host] : hosts)
    if (!host.cores.empty() && host.threads > static_cast<int>(host.cores.size()))
      return fmt::format(
          "host {}: {} with {} on {} ({}), where they wait for each other: bind each rank to cores of its own (srun "
          "--cpus-per-task and --cpu-bind=cores, mpirun --map-by slot:PE=THREADS), or start fewer ranks there",
          name, config::counted(host.ranks, "rank"), config::counted(host.threads, "thread"),
          config::counted(static_cast<std::int64_t>(host.cores.size()), "core"),
          io::ranges({host.cores.begin(), host.cores.end()}));
  return "";
}

/// OMP_NUM_THREADS asks for threads that this build's Kokkos does not have.
std::string threads_asked_in_vain(int threads) {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  if (!gpu::on_host() || threads > 1 || asked == nullptr || std::atoi(asked) <= 1) return "";
  return fmt::format(
      "OMP_NUM_THREADS = {}, but a rank of this build computes with one thread ({}): start a rank for each core, or "
      "build with a Kokkos that has OpenMP",
      asked, gpu::backend_description());
}

}  // namespace

std::string whereabouts() {
  std::string text = fmt::format("host {}, process {}", mpi::node_name(), getpid());
  const char* job = std::getenv("SLURM_JOB_ID");
  if (!job) return text;
  const char* array = std::getenv("SLURM_ARRAY_JOB_ID");
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  return text + (array && task ? fmt::format(", SLURM job {}_{}", array, task) : fmt::format(", SLURM job {}", job));
}

RanksExamined examine_ranks(mpi::Communicator& world, const std::function<gpu::Device()>& examine) {
  gpu::Device device;
  mpi::together(world, [&] {
    // A device that is ill may throw in the vendor's words, which know no rank and no host.
    const mpi::Failure failure = mpi::failure_of([&] { device = examine(); });
    if (failure.memory_ran_out) throw std::runtime_error(*failure.text);  // no fault of the node's
    if (failure.text) device = {"its device", *failure.text};
    if (!device.fault.empty())
      throw std::runtime_error(fmt::format("rank {}, {}, {}: self-test failed: {}; leave this node out and start again",
                                           world.rank(), whereabouts(), device.name, device.fault));
  });
  const Seat own{mpi::node_name(), device.threads, gpu::usable_cores()};
  RanksExamined ranks;
  ranks.lines = world.gather(fmt::format("rank {}: {}, cores {}, {}, self-test passed", world.rank(), whereabouts(),
                                         own.cores.empty() ? "?" : io::ranges(own.cores), device.name),
                             0, "placement");
  const auto seats = seats_of(world, own);
  auto crowd = crowded_ranks(seats);
  if (crowd.empty()) crowd = crowded_host(seats);
  for (auto& warning : {crowd, threads_asked_in_vain(device.threads)})
    if (!warning.empty()) ranks.warnings.push_back(warning);
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
