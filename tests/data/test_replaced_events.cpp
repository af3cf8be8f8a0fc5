#include <gtest/gtest.h>

#include <algorithm>

#include "data/replaced_events.hpp"

using namespace fedpp::data;

namespace {

/// A conditioned first event, 60 training events in two windows, and one event of validation and of test each.
ClientData client() {
  ClientData made;
  made.id = 2;
  ClientSequence s;
  s.times = {0};
  for (int k = 0; k < 60; ++k) s.events[kTrain].push_back(k < 30 ? 10 + 0.1 * k : 50 + 0.1 * k);
  s.events[kValidation] = {70};
  s.events[kTest] = {80};
  s.windows = {std::vector<Interval>{{5, 20}, {45, 60}}, {{60, 75}}, {{75, 90}}};
  for (const auto& events : s.events) s.times.insert(s.times.end(), events.begin(), events.end());
  for (std::size_t j = 0; j < s.times.size(); ++j) s.history_types.push_back(static_cast<int>(j % 3));
  made.sequences = {s, s};
  return made;
}

std::size_t moved(const ClientData& after) {
  const auto before = client();
  std::size_t count = 0;
  for (const double t : after.sequences[0].events[kTrain])
    count += std::count(before.sequences[0].events[kTrain].begin(), before.sequences[0].events[kTrain].end(), t) == 0;
  return count;
}

}  // namespace

TEST(ReplacedEvents, MoveAShareOfTheTrainingEventsWithinTheirWindows) {
  for (const auto& [share, least, most] : {std::tuple{0.0, 0u, 0u}, {0.5, 20u, 40u}, {1.0, 60u, 60u}}) {
    auto after = client();
    replace_events(after, share, 7);
    EXPECT_GE(moved(after), least);
    EXPECT_LE(moved(after), most);
    const auto before = client();
    for (std::size_t k = 0; k < 2; ++k) {
      const auto &s = after.sequences[k], &old = before.sequences[k];
      ASSERT_EQ(s.events[kTrain].size(), 60u);
      EXPECT_TRUE(std::is_sorted(s.events[kTrain].begin(), s.events[kTrain].end()));
      for (const double t : s.events[kTrain]) EXPECT_TRUE((t >= 5 && t <= 20) || (t >= 45 && t <= 60)) << t;
      EXPECT_EQ(s.events[kValidation], old.events[kValidation]);
      EXPECT_EQ(s.events[kTest], old.events[kTest]);
      // The history says the same, with as many of each type, and the conditioned event is where it was.
      EXPECT_TRUE(std::is_sorted(s.times.begin(), s.times.end()));
      EXPECT_EQ(s.times.front(), 0);
      EXPECT_TRUE(std::includes(s.times.begin(), s.times.end(), s.events[kTrain].begin(), s.events[kTrain].end()));
      for (int type = 0; type < 3; ++type)
        EXPECT_EQ(std::count(s.history_types.begin(), s.history_types.end(), type),
                  std::count(old.history_types.begin(), old.history_types.end(), type));
    }
  }
  auto all = client();
  replace_events(all, 1.0, 7);
  std::vector<double> times;
  for (const auto& s : all.sequences) times.insert(times.end(), s.events[kTrain].begin(), s.events[kTrain].end());
  std::sort(times.begin(), times.end());
  EXPECT_EQ(std::unique(times.begin(), times.end()) - times.begin(), 120) << "each has a time of its own";
  // Two windows of equal length: 60 of 120 in each, four standard deviations to either side.
  EXPECT_NEAR(static_cast<double>(std::lower_bound(times.begin(), times.end(), 40.0) - times.begin()), 60.0, 22.0);
  auto other = client();
  other.id = 3;
  replace_events(other, 1.0, 7);
  EXPECT_NE(other.sequences[0].events[kTrain], all.sequences[0].events[kTrain]) << "clients draw for themselves";
  auto a = client(), b = client();
  replace_events(a, 0.5, 7);
  replace_events(b, 0.5, 8);
  EXPECT_NE(a.sequences[0].events[kTrain], b.sequences[0].events[kTrain]);
}
