#include "gpu/kokkos.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace fedpp::gpu {

int team_size() {
  static const int size = [] {
    const char* text = std::getenv("FEDPP_TEAM_SIZE");
    if constexpr (kHostBackend)
      return std::clamp(text ? std::atoi(text) : 1, 1, static_cast<int>(Exec().concurrency()));
    else
      return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(text ? std::atoi(text) : 128, 32, 128))));
  }();
  return size;
}

TeamScratch team_scratch(Index doubles) {
  constexpr Index kMostShared = 72 << 10;
  const Index bytes = doubles * static_cast<Index>(sizeof(double)) + 64;
  const bool shared = !kHostBackend && bytes <= std::min<Index>(kMostShared, Policy::scratch_size_max(0));
  return {bytes, shared ? 0 : 1};
}

Index most_team_scratch() {
  return kHostBackend ? std::numeric_limits<Index>::max() : static_cast<Index>(Policy::scratch_size_max(1));
}

int concurrent_teams() { return std::max(1, static_cast<int>(Exec().concurrency()) / team_size()); }

Policy team_policy(const Exec& exec, int league, Index scratch) {
  Policy policy(exec, league, team_size());
  if (scratch <= 0) return policy;
  const TeamScratch wanted = team_scratch(scratch);  // Scratch asks for shared memory first
  if (wanted.bytes > most_team_scratch())
    throw std::runtime_error("a kernel wants " + std::to_string(wanted.bytes >> 20) +
                             " MB of scratch a team, of which the device gives " +
                             std::to_string(most_team_scratch() >> 20) + ": take fewer inducing points");
  policy.set_scratch_size(wanted.level, Kokkos::PerTeam(wanted.bytes));
  return policy;
}

}  // namespace fedpp::gpu
