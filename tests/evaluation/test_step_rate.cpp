#include <gtest/gtest.h>

#include "evaluation/step_rate.hpp"

namespace fedpp::evaluation {
namespace {

TEST(Bins, CountEventsAndOverlapsOfSeveralWindows) {
  const Bins bins({0, 10}, 5);
  BinnedEvents seen;
  bins.add({100, 101.9, 102, 110}, {{100, 103}, {105, 110}}, 100, seen);
  bins.add({}, {{-5, 1}}, 0, seen);  // clipped to the range
  EXPECT_EQ(seen.counts, (std::vector<double>{2, 1, 0, 0, 1}));
  EXPECT_EQ(seen.exposure, (std::vector<double>{3, 1, 1, 2, 2}));
}

TEST(Bins, ClipTimesOutside) {
  const Bins bins({1, 3}, 4);
  EXPECT_EQ(bins.bin(0), 0);
  EXPECT_EQ(bins.bin(1), 0);
  EXPECT_EQ(bins.bin(1.5), 1);
  EXPECT_EQ(bins.bin(3), 3);
  EXPECT_EQ(bins.bin(9), 3);
  EXPECT_DOUBLE_EQ(bins.edge(4), 3);
}

TEST(StepRate, FloorsAtHalfAnEvent) {
  const Bins bins({0, 3}, 3);
  const StepRate r = floored_rate(bins, {{0, 4, 0}, {2, 2, 0}});
  EXPECT_EQ(r.rate, (std::vector<double>{0.25, 2, 1}));  // no exposure: 4 events in 4
}

TEST(StepRate, ShrinksByOneEventOfTheHomogeneousRate) {
  const Bins bins({0, 3}, 3);
  const StepRate r = shrunken_rate(bins, {{6, 2, 0}, {3, 1, 0}});  // h = 2
  EXPECT_DOUBLE_EQ(r.rate[0], 7 / 3.5);
  EXPECT_DOUBLE_EQ(r.rate[1], 3 / 1.5);
  EXPECT_DOUBLE_EQ(r.rate[2], 2);
}

}  // namespace
}  // namespace fedpp::evaluation
