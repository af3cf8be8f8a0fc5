// The self-test at a run's start: passes on a sound device, and counts what came back wrong.
#include <gtest/gtest.h>

#include "gpu/device.hpp"
#include "gpu/kokkos.hpp"

namespace fedpp::gpu {
namespace {

TEST(Device, PassesItsSelfTest) {
  for (const std::int64_t words : {1, 31, 32, 33, 100001}) {
    const auto device = examine_device(words);
    EXPECT_EQ(device.fault, "");
    EXPECT_NE(device.name, "");
  }
}

TEST(Device, WrongWordsAreCounted) {
  std::vector<std::uint64_t> words(100);
  EXPECT_NE(fault_of(words).find("100 of 100 words"), std::string::npos);
  EXPECT_EQ(fault_of({}), "");
}

}  // namespace
}  // namespace fedpp::gpu
