#include <gtest/gtest.h>

#include <algorithm>

#include "data/validation_halves.hpp"

using namespace fedpp::data;

namespace {

/// Sequences with two validation windows each, and an event in the middle of the first.
ClientData client_with(int sequences) {
  ClientData client;
  client.id = 3;
  for (int s = 0; s < sequences; ++s) {
    ClientSequence sequence;
    sequence.id = s;
    sequence.events = {std::vector<double>{1, 2}, {11, 12, 15, 16, 20, 31, 39}, {50}};
    sequence.windows = {std::vector<Interval>{{0, 10}}, {{10, 20}, {30, 40}}, {{45, 60}}};
    for (const auto& events : sequence.events)
      sequence.times.insert(sequence.times.end(), events.begin(), events.end());
    client.sequences.push_back(sequence);
  }
  return client;
}

}  // namespace

TEST(ValidationHalves, AreDisjointAndTogetherTheWhole) {
  const auto whole = client_with(40);
  const auto rounds = with_validation_half(whole, ValidationHalf::kRounds, 7);
  const auto starts = with_validation_half(whole, ValidationHalf::kStarts, 7);
  int earlier = 0;
  for (std::size_t s = 0; s < whole.sequences.size(); ++s) {
    const auto& a = rounds.sequences[s];
    const auto& b = starts.sequences[s];
    auto events = a.events[kValidation];
    events.insert(events.end(), b.events[kValidation].begin(), b.events[kValidation].end());
    std::sort(events.begin(), events.end());
    EXPECT_EQ(events, whole.sequences[s].events[kValidation]);
    ASSERT_EQ(a.windows[kValidation].size(), 2u);
    for (int w = 0; w < 2; ++w) {
      const auto &mine = a.windows[kValidation][w], &other = b.windows[kValidation][w];
      EXPECT_EQ(std::min(mine.start, other.start), w == 0 ? 10 : 30);
      EXPECT_EQ(std::max(mine.end, other.end), w == 0 ? 20 : 40);
      EXPECT_TRUE(mine.end == other.start || other.end == mine.start);
      for (const double t : a.events[kValidation])
        EXPECT_TRUE(!(t > other.start && t < other.end)) << "an event of one half in the other's window";
    }
    earlier += a.windows[kValidation][0].start == 10;
    EXPECT_EQ(a.events[kTrain], whole.sequences[s].events[kTrain]);
    EXPECT_EQ(a.windows[kTest][0].end, 60);
    EXPECT_EQ(a.times, whole.sequences[s].times);
  }
  EXPECT_GT(earlier, 8);
  EXPECT_LT(earlier, 32);
}

TEST(ValidationHalves, FollowTheSeedAndTheClient) {
  const auto whole = client_with(20);
  auto other = whole;
  other.id = 4;
  const auto starts = [](const ClientData& client, std::uint64_t seed) {
    std::vector<double> list;
    for (const auto& sequence : with_validation_half(client, ValidationHalf::kStarts, seed).sequences)
      list.push_back(sequence.windows[kValidation][0].start);
    return list;
  };
  EXPECT_EQ(starts(whole, 1), starts(whole, 1));
  EXPECT_NE(starts(whole, 1), starts(whole, 2));
  EXPECT_NE(starts(whole, 1), starts(other, 1));
}

TEST(ValidationHalves, NothingToHalve) {
  auto client = client_with(1);
  client.sequences[0].windows[kValidation].clear();
  client.sequences[0].events[kValidation].clear();
  EXPECT_TRUE(with_validation_half(client, ValidationHalf::kStarts, 1).sequences[0].windows[kValidation].empty());
}
