#include "gpu/kokkos.hpp"

#include <algorithm>
#include <cstdlib>

namespace fedpp::gpu {

int team_size() {
  if constexpr (kHostBackend) {
    static const int size = [] {
      const char* text = std::getenv("FEDPP_TEAM_SIZE");
      const int wanted = text ? std::atoi(text) : 1;
      return std::clamp(wanted, 1, static_cast<int>(Exec().concurrency()));
    }();
    return size;
  } else {
    return 128;
  }
}

Policy team_policy(const Exec& exec, int league, Index scratch) {
  Policy policy(exec, league, team_size());
  if (scratch > 0) policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(scratch * sizeof(double)) + 64));
  return policy;
}

}  // namespace fedpp::gpu
