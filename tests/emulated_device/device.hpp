// A device that a host plays, as GPUs behave: memory of its own, launches that run later, teams of 128 threads in warps
// of 32 that wait for each other at barriers and nowhere else. What works on hosts alone ends the program with a word.
#pragma once

#include <cstddef>
#include <string>

namespace emulated_device {

inline constexpr int kTeam = 128;                             ///< most threads of a team
inline constexpr std::size_t kShared = 206'824;               ///< bytes of shared memory that Kokkos 5 gives (sm_90)
inline constexpr int kThreads = 4 * kTeam;                    ///< that it says it runs at a time
inline constexpr std::size_t kTeamGlobal = 80 << 20;          ///< and of global scratch (Kokkos 5)
inline constexpr std::size_t kMemory = std::size_t{4} << 30;  ///< bytes of device memory

// --- memory

/// Device memory, its bytes all 0xff: not a number, or -1. Throws std::bad_alloc where it does not fit.
void* allocate(std::size_t bytes);
/// What allocate() gave.
void release(void* memory);
/// Most bytes of device memory that were taken at a time.
std::size_t peak_memory();
/// Allocations end below this byte from here on, for tests of what happens when there are no more.
void limit_memory(std::size_t bytes);

/// While one lives the host may touch device memory, as a copy does. Elsewhere it must not.
class HostAccess {
 public:
  HostAccess();
  ~HostAccess();
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;
};

// --- launches

/// A kernel's arguments and what its launch does.
class Launch {
 public:
  explicit Launch(const std::string& label);
  virtual ~Launch() = default;
  virtual void run() const = 0;
  const char* name() const { return name_; }

 private:
  char name_[96];
};

/// Room for a launch in the queue, for placement new; what waits there runs first where there is none.
void* room(std::size_t bytes);
/// The launch that was made there waits now.
void enqueue(Launch* launch);
/// Runs what waits: nothing runs before somebody asks for its end, the latest that a GPU's stream allows.
void finish();

/// Scratch that each team has, in bytes, by level: shared memory and global memory.
struct Scratch {
  std::size_t bytes[2] = {0, 0};
};
/// The most of each level that a launch has had since this was asked last, and of global memory what all its teams at a
/// time had.
struct MostScratch {
  std::size_t bytes[2] = {0, 0}, teams = 0;
};
MostScratch most_scratch();

/// Called by Launch::run(): thread(arguments, league rank, team rank) for every thread of every team.
void run_league(int league, int team, const Scratch& scratch, void (*thread)(const void*, int, int),
                const void* arguments);

// --- inside kernels

/// Whether a kernel's thread is asking.
bool in_kernel();
/// Ends the program with what is wrong and the kernel's name.
[[noreturn]] void fail(const char* what);
/// Until all threads of the team have come.
void team_barrier();
/// Sum over the team, known to all: a barrier before and after.
double team_sum(double value);
/// __shfl_xor_sync: no barrier, and orders no access to memory.
double shuffle_xor(unsigned mask, double value, int other);
/// __syncwarp: what the threads of the mask did before is known to each afterwards.
void warp_barrier(unsigned mask);
/// The team's scratch of a level.
char* scratch_begin(int level);
std::size_t scratch_bytes(int level);

}  // namespace emulated_device
