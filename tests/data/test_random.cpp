#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "data/random.hpp"

using namespace fedpp::data;

TEST(Random, ReferenceValues) {
  // splitmix64 from state 0 (published reference sequence) and the 10,000th value that the standard requires of the
  // engine.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu);
  std::mt19937_64 engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042u);
  Random random(1, Purpose::kFolds, 0);
  std::vector<int> counts(6, 0);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(items);
    ++counts[items[0] * 2 + (items[1] > items[2])];
  }
  for (int n : counts) EXPECT_NEAR(n, 1000, 4 * std::sqrt(1000 * 5 / 6.0));
}
