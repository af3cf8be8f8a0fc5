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

TEST(ValidationHalves, ASequenceWithoutAPartnerIsCut) {
  int earlier = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto whole = client_with(1);
    const auto a = with_validation_half(whole, ValidationHalf::kRounds, seed).sequences[0];
    const auto b = with_validation_half(whole, ValidationHalf::kStarts, seed).sequences[0];
    auto events = a.events[kValidation];
    events.insert(events.end(), b.events[kValidation].begin(), b.events[kValidation].end());
    std::sort(events.begin(), events.end());
    EXPECT_EQ(events, whole.sequences[0].events[kValidation]);
    ASSERT_EQ(a.windows[kValidation].size(), 2u);
    for (int w = 0; w < 2; ++w) {
      const auto &mine = a.windows[kValidation][w], &other = b.windows[kValidation][w];
      EXPECT_EQ(std::min(mine.start, other.start), w == 0 ? 10 : 30);
      EXPECT_EQ(std::max(mine.end, other.end), w == 0 ? 20 : 40);
      EXPECT_TRUE(mine.end == other.start || other.end == mine.start);
      for (const double t : a.events[kValidation])
        EXPECT_TRUE(!(t > other.start && t < other.end)) << "an event of one half in the other's window";
    }
    const auto& first = a.windows[kValidation][0].start == 10 ? a : b;  // an event in the middle is in the earlier part
    EXPECT_EQ(std::count(first.events[kValidation].begin(), first.events[kValidation].end(), 15), 1);
    earlier += a.windows[kValidation][0].start == 10;
    EXPECT_EQ(a.events[kTrain], whole.sequences[0].events[kTrain]);
    EXPECT_EQ(a.windows[kTest][0].end, 60);
    EXPECT_EQ(a.times, whole.sequences[0].times);
  }
  EXPECT_GT(earlier, 8);
  EXPECT_LT(earlier, 32);
}

TEST(ValidationHalves, PairsOfSequencesAreDealt) {
  const auto whole = client_with(40);
  const auto rounds = with_validation_half(whole, ValidationHalf::kRounds, 7);
  const auto starts = with_validation_half(whole, ValidationHalf::kStarts, 7);
  int dealt = 0, first = 0;
  for (std::size_t s = 0; s < whole.sequences.size(); ++s) {
    const auto &a = rounds.sequences[s], &b = starts.sequences[s], &all = whole.sequences[s];
    const bool ranks = !a.windows[kValidation].empty();
    const auto &full = ranks ? a : b, &empty = ranks ? b : a;
    EXPECT_EQ(full.events[kValidation], all.events[kValidation]);
    EXPECT_EQ(full.windows[kValidation].size(), 2u);
    EXPECT_TRUE(empty.windows[kValidation].empty() && empty.events[kValidation].empty());
    EXPECT_EQ(empty.events[kTrain], all.events[kTrain]);
    EXPECT_EQ(empty.times, all.times);
    dealt += ranks;
    first += ranks && s % 2 == 0;
  }
  EXPECT_EQ(dealt, 20);
  EXPECT_GT(first, 3);
  EXPECT_LT(first, 17);
}

/// 100, 60, 20, 15 and 1 events: the second has half of the first's, the fourth of the third's, the last is alone.
TEST(ValidationHalves, PartnersHaveAboutAsManyEvents) {
  auto whole = client_with(5);
  const std::size_t counts[] = {15, 100, 1, 60, 20};
  for (std::size_t s = 0; s < 5; ++s) {
    whole.sequences[s].events[kValidation].clear();
    for (std::size_t e = 0; e < counts[s]; ++e)
      whole.sequences[s].events[kValidation].push_back(10 + 10 * (static_cast<double>(e) + 0.5) / counts[s]);
  }
  const auto check = [&](std::vector<std::size_t> cut, std::vector<std::pair<std::size_t, std::size_t>> pairs) {
    const auto half = with_validation_half(whole, ValidationHalf::kStarts, 3);
    for (const auto s : cut) EXPECT_EQ(half.sequences[s].windows[kValidation].size(), 2u) << s;
    for (const auto s : cut)
      EXPECT_LT(half.sequences[s].windows[kValidation][0].end - half.sequences[s].windows[kValidation][0].start, 6)
          << s;
    for (const auto& [a, b] : pairs)
      EXPECT_NE(half.sequences[a].windows[kValidation].empty(), half.sequences[b].windows[kValidation].empty());
  };
  check({2}, {{1, 3}, {4, 0}});
  whole.sequences[3].events[kValidation].resize(49);  // fewer than half of 100: 100 is cut, 49 has no partner either
  check({1, 3, 2}, {{4, 0}});
}

TEST(ValidationHalves, FollowTheSeedAndTheClient) {
  const auto whole = client_with(20);
  auto other = whole;
  other.id = 4;
  const auto starts = [](const ClientData& client, std::uint64_t seed) {
    std::vector<double> list;
    for (const auto& sequence : with_validation_half(client, ValidationHalf::kStarts, seed).sequences)
      list.push_back(sequence.windows[kValidation].empty() ? 0 : sequence.windows[kValidation][0].start);
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
