// Which device this rank computes on, and whether its memory keeps what is written to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fedpp::gpu {

struct Device {
  std::string name;   ///< "NVIDIA H100, GPU-8a1f..., PCI 0000:41:00.0"; the execution space on a host
  std::string fault;  ///< of the self-test; "" where it passed
  int threads = 1;    ///< that kernels run on where the device is the host
};

/// Devices that this process may choose from; 0 where kernels run on the host, or where Kokkos is to choose (HIP).
int device_count();

/// Throws std::runtime_error where this is a CUDA build and the node has no GPU to use.
void require_device();

/// The GPU's UUID, "" on a host or where the backend does not tell.
std::string device_identity();

/// What is free of the device's memory.
double free_device_mb();

/// Writes a pattern of `words` 64-bit words into device memory, changes it by a kernel, brings it back and compares. On
/// a host, too: cheap, and the same path. Needs a Runtime.
Device examine_device(std::int64_t words = 1 << 20);

/// The cores that the threads of this process' kernels may use, increasing: of each thread those that it is bound to,
/// which OMP_PROC_BIND may have narrowed to one.
std::vector<int> usable_cores();

/// The self-test's judgement of what came back: "" or how many words are wrong and where the first is.
std::string fault_of(const std::vector<std::uint64_t>& words);

}  // namespace fedpp::gpu
