// A named stretch of the program, as profilers show it.
#pragma once

namespace fedpp::gpu {

/// For the life of the object: a region of Kokkos Tools and, in CUDA builds, an NVTX range (nsys shows it without any
/// connector). The name must be a literal or outlive the object.
class Region {
 public:
  explicit Region(const char* name);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

}  // namespace fedpp::gpu
