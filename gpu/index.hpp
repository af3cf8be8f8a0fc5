// The type of offsets and lengths.
#pragma once

#include <cstdint>

namespace fedpp::gpu {

using Index = std::int64_t;

}  // namespace fedpp::gpu
