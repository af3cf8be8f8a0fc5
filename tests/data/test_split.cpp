#include <gtest/gtest.h>

#include "data/split.hpp"

using namespace fedpp::data;

namespace {
ClientSequence of(std::vector<double> times) {
  ClientSequence sequence;
  sequence.times = std::move(times);
  return sequence;
}
}  // namespace

TEST(CutChronologically, ConditionsOnTheFirstAndMeetsHalfWay) {
  ClientSequence s = of({10, 11, 12, 14, 15, 16, 18, 21, 24, 26, 30});
  std::int64_t dropped = 0;
  ASSERT_TRUE(cut_chronologically(s, false, {}, dropped));
  EXPECT_EQ(s.origin, 10);
  EXPECT_EQ(s.events[kTrain], (std::vector<double>{11, 12, 14, 15, 16, 18}));
  EXPECT_EQ(s.events[kValidation], (std::vector<double>{21, 24}));
  EXPECT_EQ(s.events[kTest], (std::vector<double>{26, 30}));
  ASSERT_EQ(s.windows[kTrain].size(), 1u);
  EXPECT_EQ(s.windows[kTrain][0].start, 10);
  EXPECT_EQ(s.windows[kTrain][0].end, 19.5);
  EXPECT_EQ(s.windows[kValidation][0].start, 19.5);
  EXPECT_EQ(s.windows[kValidation][0].end, 25);
  EXPECT_EQ(s.windows[kTest][0].end, 30);
  EXPECT_EQ(dropped, 0);
}

TEST(CutChronologically, FewerThanFiveTrainingEventsAreLeftOut) {
  std::int64_t dropped = 0;
  std::vector<double> times{0};
  for (int n = 1; n <= 12; ++n) {
    times.push_back(n);
    ClientSequence s = of(times);
    EXPECT_EQ(cut_chronologically(s, false, {}, dropped), n * 6 / 10 >= 5) << n;
  }
  ClientSequence empty = of({});
  EXPECT_FALSE(cut_chronologically(empty, false, {}, dropped));
  EXPECT_FALSE(cut_chronologically(empty, true, {{0, 1}}, dropped));
}

TEST(CutChronologically, TiesStayTogether) {
  ClientSequence s = of({0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8});
  std::int64_t dropped = 0;
  ASSERT_TRUE(cut_chronologically(s, false, {}, dropped));
  EXPECT_EQ(s.events[kTrain], (std::vector<double>{1, 2, 3, 4, 5, 6, 6, 6}));
  EXPECT_TRUE(s.events[kValidation].empty());
  EXPECT_TRUE(s.windows[kValidation].empty());
  EXPECT_EQ(s.events[kTest], (std::vector<double>{7, 8}));
  EXPECT_EQ(s.windows[kTest][0].start, 6.5);
  ClientSequence same = of(std::vector<double>(12, 3.0));
  EXPECT_FALSE(cut_chronologically(same, false, {}, dropped));
}

TEST(CutChronologically, WindowsTableCountsEveryEventInItsWindows) {
  ClientSequence s = of({1, 2, 3, 4, 5, 6, 9, 21, 22, 23, 24});
  std::int64_t dropped = 0;
  ASSERT_TRUE(cut_chronologically(s, true, {{0, 8}, {20, 30}}, dropped));
  EXPECT_EQ(dropped, 1);  // 9 lies in the gap
  EXPECT_EQ(s.origin, 0);
  EXPECT_EQ(s.events[kTrain], (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(s.events[kValidation], (std::vector<double>{21, 22}));
  // Half-way between 6 and 21 lies in the gap: training ends with its window, validation begins with the next.
  EXPECT_EQ(s.windows[kTrain].back().end, 8);
  EXPECT_EQ(s.windows[kValidation][0].start, 20);
  EXPECT_EQ(s.windows[kValidation][0].end, 22.5);
  EXPECT_EQ(s.windows[kTest][0].end, 30);
}

TEST(AssignWhole, CommonWindowOrOwnWindows) {
  std::int64_t dropped = 0;
  ClientSequence s = of({0, 1, 5, 9, 10});
  assign_whole(s, kTest, false, {}, {1, 9}, dropped);
  EXPECT_EQ(s.events[kTest], (std::vector<double>{1, 5, 9}));
  EXPECT_EQ(s.windows[kTest][0].start, 1);
  EXPECT_EQ(dropped, 2);
  ClientSequence gaps = of({0, 1, 5, 9, 10});
  dropped = 0;
  assign_whole(gaps, kTrain, true, {{0, 2}, {8, 12}}, {1, 10}, dropped);
  EXPECT_EQ(gaps.events[kTrain], (std::vector<double>{1, 9, 10}));
  ASSERT_EQ(gaps.windows[kTrain].size(), 2u);
  EXPECT_EQ(gaps.windows[kTrain][0].start, 1);
  EXPECT_EQ(gaps.windows[kTrain][1].end, 10);
  EXPECT_EQ(dropped, 2);
}
