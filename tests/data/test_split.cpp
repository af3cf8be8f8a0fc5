#include <gtest/gtest.h>

#include <cmath>

#include "data/random.hpp"
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
  std::int64_t outside = 0;
  ASSERT_TRUE(cut_chronologically(s, false, {}, outside, {SplitAt::kHalfway}));
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
  EXPECT_EQ(outside, 0);
}

TEST(CutChronologically, FewerThanFiveTrainingEventsAreLeftOut) {
  std::int64_t outside = 0;
  std::vector<double> times{0};
  for (int n = 1; n <= 12; ++n) {
    times.push_back(n);
    ClientSequence s = of(times);
    EXPECT_EQ(cut_chronologically(s, false, {}, outside, {SplitAt::kHalfway}), n * 6 / 10 >= 5) << n;
  }
  ClientSequence empty = of({});
  EXPECT_FALSE(cut_chronologically(empty, false, {}, outside, {SplitAt::kHalfway}));
  EXPECT_FALSE(cut_chronologically(empty, true, {{0, 1}}, outside, {SplitAt::kHalfway}));
}

TEST(CutChronologically, TiesStayTogether) {
  ClientSequence s = of({0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8});
  std::int64_t outside = 0;
  ASSERT_TRUE(cut_chronologically(s, false, {}, outside, {SplitAt::kHalfway}));
  EXPECT_EQ(s.events[kTrain], (std::vector<double>{1, 2, 3, 4, 5, 6, 6, 6}));
  EXPECT_TRUE(s.events[kValidation].empty());
  EXPECT_TRUE(s.windows[kValidation].empty());
  EXPECT_EQ(s.events[kTest], (std::vector<double>{7, 8}));
  EXPECT_EQ(s.windows[kTest][0].start, 6.5);
  ClientSequence same = of(std::vector<double>(12, 3.0));
  EXPECT_FALSE(cut_chronologically(same, false, {}, outside, {SplitAt::kHalfway}));
}

TEST(CutChronologically, TheSharesSayHowManyEventsAreWhere) {
  std::vector<double> times;
  for (int t = 0; t <= 20; ++t) times.push_back(t);  // 20 counted
  const auto counts = [&](const Cut& cut) {
    ClientSequence s = of(times);
    std::int64_t outside = 0;
    EXPECT_TRUE(cut_chronologically(s, false, {}, outside, cut));
    EXPECT_EQ(s.windows[kTrain][0].end, s.windows[kValidation][0].start);
    EXPECT_EQ(s.windows[kValidation][0].end, s.windows[kTest][0].start);
    return std::vector<std::size_t>{s.events[kTrain].size(), s.events[kValidation].size(), s.events[kTest].size()};
  };
  for (const SplitAt at : {SplitAt::kHalfway, SplitAt::kEvent, SplitAt::kTime}) {
    EXPECT_EQ(counts({at}), (std::vector<std::size_t>{12, 4, 4}));
    EXPECT_EQ(counts({at, 0.5, 0.3}), (std::vector<std::size_t>{10, 6, 4}));
    EXPECT_EQ(counts({at, 0.25, 0.05}), (std::vector<std::size_t>{5, 1, 14}));
  }
  EXPECT_EQ(counts({SplitAt::kEvent, 0.7, 0.1}), (std::vector<std::size_t>{14, 2, 4}));    // 0.7 + 0.1 < 0.8
  EXPECT_EQ(counts({SplitAt::kEvent, 0.62, 0.17}), (std::vector<std::size_t>{12, 3, 5}));  // 12.4 and 15.8 rounded down
}

TEST(CutChronologically, SixtyAndEightyPercentAreRoundedAsWholeNumbersAre) {
  for (std::size_t n = 9; n < 400; ++n) {
    std::vector<double> times;
    for (std::size_t t = 0; t <= n; ++t) times.push_back(static_cast<double>(t));
    ClientSequence s = of(times);
    std::int64_t outside = 0;
    ASSERT_TRUE(cut_chronologically(s, false, {}, outside, {}));
    ASSERT_EQ(s.events[kTrain].size(), n * 6 / 10) << n;
    ASSERT_EQ(s.events[kTest].size(), n - n * 8 / 10) << n;
  }
}

TEST(CutChronologically, SharesOfObservedTimeKeepEverySequenceOfAWindowsTable) {
  ClientSequence s = of({1, 6.5, 25});
  std::int64_t outside = 0;
  ASSERT_TRUE(cut_chronologically(s, true, {{0, 8}, {20, 32}}, outside, {SplitAt::kTime}));  // 20 observed: 12 and 16
  EXPECT_EQ(s.events[kTrain], (std::vector<double>{1, 6.5}));
  EXPECT_EQ(s.events[kValidation], (std::vector<double>{25}));
  ASSERT_EQ(s.windows[kTrain].size(), 2u);
  EXPECT_EQ(s.windows[kTrain][1].start, 20);
  EXPECT_DOUBLE_EQ(s.windows[kTrain][1].end, 24);
  EXPECT_DOUBLE_EQ(s.windows[kValidation][0].end, 28);
  EXPECT_EQ(s.windows[kTest][0].end, 32);
  ClientSequence none = of({});
  ASSERT_TRUE(cut_chronologically(none, true, {{0, 10}}, outside, {SplitAt::kTime}));
  EXPECT_DOUBLE_EQ(none.windows[kTrain][0].end, 6);
  // Without a table a sequence is there because it has events: five of them in training, as with shares of events.
  ClientSequence few = of({0, 1, 2, 3, 4, 10});
  EXPECT_FALSE(cut_chronologically(few, false, {}, outside, {SplitAt::kTime}));
  ClientSequence enough = of({0, 1, 2, 3, 4, 6, 10});
  ASSERT_TRUE(cut_chronologically(enough, false, {}, outside, {SplitAt::kTime}));
  EXPECT_EQ(enough.events[kTrain], (std::vector<double>{1, 2, 3, 4, 6}));
  EXPECT_EQ(outside, 0);
}

TEST(CutChronologically, SharesOfObservedTimeLeaveARateWhatItIs) {
  // Short sequences of a constant rate, ten events each on average: events over exposure of the training windows. A cut
  // after a share of the events knows how many will come, and few of them leave a sequence out.
  constexpr double kRate = 0.1, kWindow = 100;
  double events[2] = {}, exposure[2] = {};
  for (int i = 0; i < 20000; ++i) {
    Random random(1, Purpose::kSimulateEvents, i);
    std::vector<double> times;
    for (double t = random.exponential() / kRate; t < kWindow; t += random.exponential() / kRate) times.push_back(t);
    std::int64_t outside = 0;
    for (const SplitAt split_at : {SplitAt::kTime, SplitAt::kEvent}) {
      ClientSequence s = of(times);
      if (!cut_chronologically(s, true, {{0, kWindow}}, outside, {split_at})) continue;
      events[split_at == SplitAt::kEvent] += static_cast<double>(s.events[kTrain].size());
      exposure[split_at == SplitAt::kEvent] += s.windows[kTrain][0].end;
    }
  }
  const double noise = std::sqrt(kRate / exposure[0]);  // of a Poisson count
  EXPECT_NEAR(events[0] / exposure[0], kRate, 4 * noise);
  EXPECT_GT(events[1] / exposure[1], 1.2 * kRate);
}

TEST(CutChronologically, WindowsTableCountsEveryEventInItsWindows) {
  ClientSequence s = of({1, 2, 3, 4, 5, 6, 9, 21, 22, 23, 24});
  std::int64_t outside = 0;
  ASSERT_TRUE(cut_chronologically(s, true, {{0, 8}, {20, 30}}, outside, {SplitAt::kHalfway}));
  EXPECT_EQ(outside, 1);  // 9 lies in the gap
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
  std::int64_t outside = 0;
  ClientSequence s = of({0, 1, 5, 9, 10});
  assign_whole(s, kTest, false, {}, {1, 9}, outside);
  EXPECT_EQ(s.events[kTest], (std::vector<double>{1, 5, 9}));
  EXPECT_EQ(s.windows[kTest][0].start, 1);
  EXPECT_EQ(s.origin, 1);
  EXPECT_EQ(outside, 2);
  ClientSequence gaps = of({0, 1, 5, 9, 10});
  outside = 0;
  assign_whole(gaps, kTrain, true, {{0, 2}, {8, 12}}, {1, 10}, outside);
  EXPECT_EQ(gaps.events[kTrain], (std::vector<double>{1, 9, 10}));
  ASSERT_EQ(gaps.windows[kTrain].size(), 2u);
  EXPECT_EQ(gaps.windows[kTrain][0].start, 1);
  EXPECT_EQ(gaps.windows[kTrain][1].end, 10);
  EXPECT_EQ(outside, 2);
  ClientSequence late = of({4});
  assign_whole(late, kTrain, true, {{3, 5}}, {1, 10}, outside);
  EXPECT_EQ(late.origin, 3) << "where its observation starts";
}
