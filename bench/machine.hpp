// What the machine can do, measured in the same run as everything else, and the clock of all measurements.
#pragma once

#include "gpu/cost.hpp"

namespace fedpp::bench {

/// Seconds that this process has computed: the thread's CPU time where one thread computes (other programs on the
/// machine then hardly count), wall time otherwise.
double now();

/// Rates of the roofline: the vendor's DGEMM, 512 x 512 on a host (every thread its own), 4096 x 4096 on a GPU; a copy
/// of 128 MB, read and written. The median of nine.
struct Machine {
  double flops = 0, bytes = 0;  ///< per second
};
const Machine& machine();

/// Seconds that the roofline allows: the larger of flops / rate and bytes / rate.
double roofline_seconds(const gpu::Cost& cost);

/// Processor or GPU, as the system names it.
std::string device_name();

/// Largest sum of the arrays that Kokkos held since the last call of restart(), and of the process's resident memory (0
/// where the system does not tell), in bytes. install() once, before any array.
namespace memory {
void install();
void restart();
double peak_arrays();
double peak_resident();
}  // namespace memory

}  // namespace fedpp::bench
