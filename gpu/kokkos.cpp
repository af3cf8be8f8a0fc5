#include "gpu/kokkos.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
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

Policy team_policy(const Exec& exec, int league, Index scratch) {
  // Shared memory of a device up to a size that leaves a multiprocessor room for three teams; global memory beyond, and
  // on hosts, where it is all one. Scratch asks for them in this order.
  constexpr int kMostShared = 72 << 10;
  Policy policy(exec, league, team_size());
  if (scratch <= 0) return policy;
  const int bytes = static_cast<int>(scratch * sizeof(double)) + 64;
  const bool shared = !kHostBackend && bytes <= std::min<int>(kMostShared, Policy::scratch_size_max(0));
  if (!kHostBackend && bytes > Policy::scratch_size_max(1))
    throw std::runtime_error("a kernel wants " + std::to_string(bytes >> 20) +
                             " MB of scratch a team, of which the device gives " +
                             std::to_string(Policy::scratch_size_max(1) >> 20) + ": take fewer inducing points");
  policy.set_scratch_size(shared ? 0 : 1, Kokkos::PerTeam(bytes));
  return policy;
}

}  // namespace fedpp::gpu
