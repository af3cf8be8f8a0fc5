#include <gtest/gtest.h>

#include <cstdio>

#include "gpu/device.hpp"
#include "gpu/kokkos.hpp"
#include "gpu/runtime.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();  // a login node can tell them
#if defined(KOKKOS_ENABLE_CUDA)
  if (fedpp::gpu::device_count() == 0) {
    std::puts("skipped: this build's kernels need a GPU, and there is none");
    return 77;
  }
#endif
  const fedpp::gpu::Runtime runtime(0, "auto");
  return RUN_ALL_TESTS();
}
