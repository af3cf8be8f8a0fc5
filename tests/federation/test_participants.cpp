#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "federation/participants.hpp"

namespace {
using fedpp::federation::sample_participants;

TEST(Participants, are_distinct_ascending_and_of_the_number_asked_for) {
  for (const int participants : {1, 7, 20}) {
    for (int round = 0; round < 30; ++round) {
      const auto chosen = sample_participants(20, participants, 1, round, 1);
      ASSERT_EQ(chosen.size(), static_cast<std::size_t>(participants));
      EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
      EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), chosen.size());
      EXPECT_GE(chosen.front(), 0);
      EXPECT_LT(chosen.back(), 20);
    }
  }
  EXPECT_EQ(sample_participants(5, 0, 1, 0, 1), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(sample_participants(5, 9, 1, 0, 1).size(), 5u);
  EXPECT_TRUE(sample_participants(0, 0, 1, 0, 1).empty());
}

TEST(Participants, stay_for_a_straggling_period_and_change_with_seed_and_block) {
  std::set<std::vector<std::int64_t>> blocks;
  for (int block = 0; block < 8; ++block) {
    const auto first = sample_participants(20, 10, 3, 5 * block, 5);
    for (int g = 0; g < 5; ++g) EXPECT_EQ(sample_participants(20, 10, 3, 5 * block + g, 5), first);
    EXPECT_EQ(sample_participants(20, 10, 3, block, 1), first);
    EXPECT_NE(sample_participants(20, 10, 4, block, 1), first);
    blocks.insert(first);
  }
  EXPECT_EQ(blocks.size(), 8u);
}

TEST(Participants, every_client_and_every_pair_is_equally_likely) {
  const int clients = 6, participants = 3, rounds = 20000;
  std::vector<int> single(clients, 0), pair(clients * clients, 0);
  for (int round = 0; round < rounds; ++round) {
    const auto chosen = sample_participants(clients, participants, 11, round, 1);
    for (const auto a : chosen) {
      ++single[a];
      for (const auto b : chosen) pair[a * clients + b] += a != b;
    }
  }
  const auto five_sd = [&](double p) { return 5 * std::sqrt(rounds * p * (1 - p)); };
  for (int a = 0; a < clients; ++a) {
    EXPECT_NEAR(single[a], rounds * 0.5, five_sd(0.5));
    for (int b = 0; b < clients; ++b) {
      if (a != b) {
        EXPECT_NEAR(pair[a * clients + b], rounds * 0.2, five_sd(0.2));
      }
    }
  }
}
}  // namespace
