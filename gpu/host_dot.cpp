#include "gpu/host_dot.hpp"

#include "gpu/team.hpp"

namespace fedpp::gpu {

double host_dot(const double* a, const double* b, std::size_t n) {
  return lane_sum(Index{0}, static_cast<Index>(n), FEDPP_KERNEL(Index i) { return a[i] * b[i]; });
}

}  // namespace fedpp::gpu
