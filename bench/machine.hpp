// What the machine can do, measured in the same run as everything else, and the clock of all measurements.
#pragma once

#include <string>

#include "gpu/cost.hpp"

namespace fedpp::bench {

/// Seconds: of the thread's CPU time where one thread of one rank computes (other programs on the machine then hardly
/// count), of the wall's clock otherwise.
double now();

/// From here on now() is the wall's clock: where ranks wait for one another.
void take_wall_time();

/// Rates of the roofline: the vendor's products of matrices in double and in single precision, 512 x 512 on a host
/// (every thread its own), 4096 x 4096 on a GPU; a copy of 128 MB (GPU: 1 GB), read and written. The median of nine.
struct Machine {
  double flops = 0, single_flops = 0, bytes = 0;  ///< per second
  double flops_in(gpu::Precision precision) const { return precision == gpu::Precision::kMixed ? single_flops : flops; }
};
const Machine& machine();

/// Seconds that the roofline allows: the larger of flops / rate and bytes / rate. In mixed precision all products count
/// as single ones, so that nothing may exceed it.
double roofline_seconds(const gpu::Cost& cost, gpu::Precision precision);

/// Processor or GPU, as the system names it; of a processor its family and model, too, since one name stands for many.
std::string device_name();

/// Largest sum of the arrays that Kokkos held since the last call of restart(), and of the process's resident memory (0
/// where the system does not tell), in bytes; restart() first gives back what was freed. in_use_on_device(): of all
/// programs, now (0: no GPU). install() once, before any array.
namespace memory {
void install();
void restart();
double peak_arrays();
double peak_resident();
double in_use_on_device();
}  // namespace memory

}  // namespace fedpp::bench
