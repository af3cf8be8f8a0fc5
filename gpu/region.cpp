#include "gpu/region.hpp"

#include <string>

#include "gpu/kokkos.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <nvtx3/nvToolsExt.h>
#endif

namespace fedpp::gpu {

Region::Region(const char* name) {
#if defined(KOKKOS_ENABLE_CUDA)
  nvtxRangePushA(name);
#endif
  static thread_local std::string text;  // Kokkos wants a string: this one keeps its memory
  text = name;
  if (Kokkos::Profiling::profileLibraryLoaded()) Kokkos::Profiling::pushRegion(text);
}

Region::~Region() {
  if (Kokkos::Profiling::profileLibraryLoaded()) Kokkos::Profiling::popRegion();
#if defined(KOKKOS_ENABLE_CUDA)
  nvtxRangePop();
#endif
}

}  // namespace fedpp::gpu
