#include "gpu/huge_pages.hpp"

#include <cstdint>

#include "gpu/kokkos.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fedpp::gpu {

void prefer_huge_pages([[maybe_unused]] void* array, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 2 << 20;
  const auto from = (reinterpret_cast<std::uintptr_t>(array) + kPage - 1) / kPage * kPage;
  const auto to = (reinterpret_cast<std::uintptr_t>(array) + bytes) / kPage * kPage;
  if (kHostBackend && from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
}

}  // namespace fedpp::gpu
