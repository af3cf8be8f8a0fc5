#pragma once

#include "gpu/encoder.hpp"
#include "gpu/reserve.hpp"

namespace fedpp::test {

/// Gives back what earlier batches left on a device: what is counted next does not depend on them.
inline void drop_reserves() {
  gpu::Reserve<double>::drop();
  gpu::Reserve<float>::drop();
  gpu::Reserve<gpu::Index>::drop();
  gpu::Reserve<int>::drop();
  gpu::Reserve<gpu::Encoder>::drop();
}

}  // namespace fedpp::test
