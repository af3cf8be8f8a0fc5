// Kokkos from start to end of the computing part of the program.
#pragma once

#include <string>
#include <string_view>

namespace fedpp::gpu {

/// Initialises Kokkos unless it is running (tests): the GPU of this rank is its number on the node modulo the node's
/// GPUs. One object, outliving all arrays.
class Runtime {
 public:
  Runtime(int node_rank, std::string_view dense);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

 private:
  bool mine_;
};

/// Whether kernels run on the host, and arrays lie in its memory.
bool on_host();

/// Work space of a block of clients: what is asked for (backend.workspace_mb), or, for 0, 8 MB a thread on a host, so
/// that what one step writes is still in a cache when the next one reads it (bench/history.md); of a GPU, which wants
/// many clients at a time, a quarter of what was free when the Runtime began, shared by the ranks that have the same.
double workspace_mb(double asked);

/// That so many ranks have this rank's device.
void share_device(int ranks);

/// Execution space, threads and the dense implementation, in words: "Serial, 1 thread, vendor BLAS (OpenBLAS for Zen)".
std::string backend_description();

}  // namespace fedpp::gpu
