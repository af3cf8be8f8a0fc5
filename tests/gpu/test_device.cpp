// The self-test at a run's start: passes on a sound device, and counts what came back wrong.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <functional>

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

TEST(Device, CoresAreThoseOfAllThreadsTheMainOneAmongThem) {
  const auto cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_EQ(std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()), cores.end());
  cpu_set_t main;
  ASSERT_EQ(sched_getaffinity(0, sizeof main, &main), 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &main)) continue;
    EXPECT_TRUE(std::binary_search(cores.begin(), cores.end(), core)) << core;
  }
}

TEST(Device, WrongWordsAreCounted) {
  std::vector<std::uint64_t> words(100);
  EXPECT_NE(fault_of(words).find("100 of 100 words"), std::string::npos);
  EXPECT_EQ(fault_of({}), "");
}

}  // namespace
}  // namespace fedpp::gpu
