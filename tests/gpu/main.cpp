#include <gtest/gtest.h>

#include "gpu/runtime.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const fedpp::gpu::Runtime runtime(0, "auto");
  return RUN_ALL_TESTS();
}
