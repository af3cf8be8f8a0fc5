// Inner products of vectors that are in a host's memory.
#pragma once

#include <cstddef>

namespace fedpp::gpu {

/// a'b of n numbers by one thread, summed in the lanes of lane_sum() (gpu/team.hpp): the bits depend on the numbers
/// alone.
double host_dot(const double* a, const double* b, std::size_t n);

}  // namespace fedpp::gpu
