// Pages of 2 MB for long arrays of a host: with those of 4 kB the processor's table of addresses holds fewer than an
// epoch passes through.
#pragma once

#include <cstddef>

namespace fedpp::gpu {

/// Asks the system for them where it gives them on request (Linux: transparent_hugepage = madvise). Before the array is
/// first written; a wish, whose refusal changes nothing but time.
void prefer_huge_pages(void* array, std::size_t bytes);

}  // namespace fedpp::gpu
