// The part of Kokkos that fedpp uses, on a device that the host plays (device.hpp): what a GPU would do to the program,
// for tests where there is none. Stands in for Kokkos' own header.
#pragma once

#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "Kokkos_Macros.hpp"
#include "view.hpp"

namespace Kokkos {

namespace device = emulated_device;

using device::HostSpace;
using device::View;
using MemoryUnmanaged = device::Unmanaged;
inline constexpr device::WithoutInitializing WithoutInitializing{};
inline device::ViewProperties view_alloc(device::WithoutInitializing, const std::string& label) {
  return {label, false};
}
using device::deep_copy;

template <class T, class Space, class Holding>
View<T*, Space, Holding> subview(const View<T*, Space, Holding>& all,
                                 const std::pair<std::int64_t, std::int64_t>& part) {
  return {all, static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.second)};
}

/// Device memory is accessible to kernels alone.
template <class From, class To>
struct SpaceAccessibility {
  static constexpr bool accessible = std::is_same_v<From, To>;
};

struct EmulatedDevice {
  using memory_space = device::DeviceSpace;
  static const char* name() { return "EmulatedDevice"; }
  int concurrency() const { return device::kThreads; }
  void fence(const std::string& name = "") const { device::fence(name.c_str()); }
};
using DefaultExecutionSpace = EmulatedDevice;

inline void fence(const std::string& name = "") { device::fence(name.c_str()); }

struct InitializationSettings {
  InitializationSettings& set_disable_warnings(bool) { return *this; }
  InitializationSettings& set_device_id(int) { return *this; }
};
void initialize(const InitializationSettings& = {});
bool is_initialized();
void finalize();
void push_finalize_hook(std::function<void()> hook);

// --- launches

struct PerTeam {
  explicit PerTeam(std::size_t n) : bytes(n) {}
  std::size_t bytes;
};

/// Scratch of a level, handed out from its beginning.
class ScratchSpace {
 public:
  explicit ScratchSpace(int level) : level_(level) {}
  void* get_shmem(std::size_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (taken_ + bytes > device::scratch_bytes(level_)) return nullptr;
    void* place = device::scratch_begin(level_) + taken_;
    taken_ += bytes;
    return place;
  }

 private:
  int level_;
  std::size_t taken_ = 0;
};

class TeamMember {
 public:
  TeamMember(int league_rank, int team_rank, int team_size)
      : league_rank_(league_rank), team_rank_(team_rank), team_size_(team_size) {}
  int league_rank() const { return league_rank_; }
  int team_rank() const { return team_rank_; }
  int team_size() const { return team_size_; }
  void team_barrier() const { device::team_barrier(); }
  ScratchSpace& team_scratch(int level) const { return level == 0 ? shared_ : global_; }

 private:
  int league_rank_, team_rank_, team_size_;
  mutable ScratchSpace shared_{0}, global_{1};
};

template <class Exec>
class TeamPolicy {
 public:
  using member_type = TeamMember;
  TeamPolicy(const Exec&, int league, int team) : league_(league), team_(team) {}
  TeamPolicy& set_scratch_size(int level, const PerTeam& bytes) {
    scratch_.bytes[level] = bytes.bytes;
    return *this;
  }
  static int scratch_size_max(int level) {
    return static_cast<int>(level == 0 ? device::kShared : device::kTeamGlobal);
  }
  int league_size() const { return league_; }
  int team_size() const { return team_; }
  const device::Scratch& scratch() const { return scratch_; }

 private:
  int league_, team_;
  device::Scratch scratch_;
};

template <class Exec>
struct RangePolicy {
  RangePolicy(std::int64_t from, std::int64_t to) : begin(from), end(to) {}
  RangePolicy(const Exec&, std::int64_t from, std::int64_t to) : begin(from), end(to) {}
  std::int64_t begin, end;
};

/// One call a thread of teams that share nothing.
template <class Functor>
struct RangeLaunch final : device::Launch {
  RangeLaunch(const std::string& label, std::int64_t from, std::int64_t to, const Functor& f)
      : Launch(label), begin(from), end(to), functor(f) {}
  void run() const override {
    const auto thread = [](const void* launch, int league_rank, int team_rank) {
      const auto& own = *static_cast<const RangeLaunch*>(launch);
      const std::int64_t i = own.begin + static_cast<std::int64_t>(league_rank) * device::kTeam + team_rank;
      if (i < own.end) own.functor(i);
    };
    device::run_league(static_cast<int>((end - begin + device::kTeam - 1) / device::kTeam), device::kTeam, {}, thread,
                       this);
  }
  std::int64_t begin, end;
  Functor functor;
};

template <class Functor>
struct TeamLaunch final : device::Launch {
  TeamLaunch(const std::string& label, const TeamPolicy<EmulatedDevice>& p, const Functor& f)
      : Launch(label), policy(p), functor(f) {}
  void run() const override {
    const auto thread = [](const void* launch, int league_rank, int team_rank) {
      const auto& own = *static_cast<const TeamLaunch*>(launch);
      own.functor(TeamMember(league_rank, team_rank, own.policy.team_size()));
    };
    device::run_league(policy.league_size(), policy.team_size(), policy.scratch(), thread, this);
  }
  TeamPolicy<EmulatedDevice> policy;
  Functor functor;
};

namespace Impl {
template <class L, class... A>
void launch(const std::string& label, const A&... arguments) {
  std::uint64_t id = 0;
  if (device::callbacks.begin_parallel_for) device::callbacks.begin_parallel_for(label.c_str(), 0, &id);
  void* place = device::room(sizeof(L));
  device::views_hold = false;
  device::enqueue(new (place) L(label, arguments...));
  device::views_hold = true;
  if (device::callbacks.end_parallel_for) device::callbacks.end_parallel_for(id);
}
}  // namespace Impl

template <class Exec, class Functor>
void parallel_for(const std::string& label, const RangePolicy<Exec>& policy, const Functor& functor) {
  Impl::launch<RangeLaunch<Functor>>(label, policy.begin, policy.end, functor);
}
template <class Exec, class Functor>
void parallel_for(const std::string& label, const TeamPolicy<Exec>& policy, const Functor& functor) {
  Impl::launch<TeamLaunch<Functor>>(label, policy, functor);
}

// --- inside a team

struct TeamThreads {
  const TeamMember& member;
  std::int64_t n;
};
inline TeamThreads TeamThreadRange(const TeamMember& member, std::int64_t n) { return {member, n}; }

template <class F>
void parallel_reduce(const TeamThreads& threads, const F& f, double& sum) {
  double partial = 0;
  for (std::int64_t i = threads.member.team_rank(); i < threads.n; i += threads.member.team_size()) f(i, partial);
  sum = device::team_sum(partial);
}

// --- profilers

namespace Profiling {
inline bool profileLibraryLoaded() { return device::callbacks.push_region != nullptr; }
inline void pushRegion(const std::string& name) {
  if (device::callbacks.push_region) device::callbacks.push_region(name.c_str());
}
inline void popRegion() {
  if (device::callbacks.pop_region) device::callbacks.pop_region();
}
}  // namespace Profiling

namespace Tools::Experimental {
using device::EventSet;
inline EventSet get_callbacks() { return device::callbacks; }
inline void set_callbacks(const EventSet& all) { device::callbacks = all; }
#define EMULATED_DEVICE_CALLBACK(event) \
  inline void set_##event##_callback(decltype(EventSet::event) callback) { device::callbacks.event = callback; }
EMULATED_DEVICE_CALLBACK(begin_parallel_for)
EMULATED_DEVICE_CALLBACK(end_parallel_for)
EMULATED_DEVICE_CALLBACK(begin_parallel_reduce)
EMULATED_DEVICE_CALLBACK(end_parallel_reduce)
EMULATED_DEVICE_CALLBACK(begin_parallel_scan)
EMULATED_DEVICE_CALLBACK(end_parallel_scan)
EMULATED_DEVICE_CALLBACK(push_region)
EMULATED_DEVICE_CALLBACK(pop_region)
EMULATED_DEVICE_CALLBACK(allocate_data)
EMULATED_DEVICE_CALLBACK(deallocate_data)
EMULATED_DEVICE_CALLBACK(begin_deep_copy)
EMULATED_DEVICE_CALLBACK(end_deep_copy)
EMULATED_DEVICE_CALLBACK(begin_fence)
EMULATED_DEVICE_CALLBACK(end_fence)
#undef EMULATED_DEVICE_CALLBACK
}  // namespace Tools::Experimental

}  // namespace Kokkos
