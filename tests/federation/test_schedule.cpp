#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "federation/schedule.hpp"

namespace {
using fedpp::config::Schedule;
using fedpp::federation::EarlyStopping;
using fedpp::federation::learning_rate_factor;

TEST(Schedule, factors_of_the_learning_rate) {
  for (const auto schedule : {Schedule::kConstant, Schedule::kCosine, Schedule::kInverseSqrt})
    EXPECT_EQ(learning_rate_factor(schedule, 0, 100), 1.0);
  EXPECT_EQ(learning_rate_factor(Schedule::kConstant, 99, 100), 1.0);
  EXPECT_NEAR(learning_rate_factor(Schedule::kCosine, 50, 100), 0.5, 1e-15);
  EXPECT_GT(learning_rate_factor(Schedule::kCosine, 99, 100), 0.0);
  EXPECT_NEAR(learning_rate_factor(Schedule::kInverseSqrt, 99, 100), 0.1, 1e-15);
}

TEST(Validation, is_after_every_so_many_rounds_and_after_the_last) {
  fedpp::config::Federation federation;
  federation.rounds = 8;
  const auto validated = [&](std::int64_t every) {
    federation.validate_every = every;
    std::vector<int> rounds;
    for (int round = 0; round < 8; ++round)
      if (fedpp::federation::is_validated(federation, round)) rounds.push_back(round + 1);
    return rounds;
  };
  EXPECT_EQ(validated(3), (std::vector<int>{3, 6, 8}));
  EXPECT_EQ(validated(4), (std::vector<int>{4, 8}));
  EXPECT_EQ(validated(1).size(), 8u);
  EXPECT_TRUE(validated(0).empty());
}

TEST(Validation, clients_that_never_took_part_take_turns) {
  fedpp::config::Federation federation;
  federation.rounds = 100;
  federation.participants = 3;
  federation.validate_every = 2;
  constexpr int kClients = 8, kTurns = 3;
  std::vector<int> turns(kClients, 0);
  for (int validation = 0; validation < kTurns; ++validation) {
    int now = 0;
    for (int c = 0; c < kClients; ++c) {
      const bool turn = fedpp::federation::has_its_turn(federation, kClients, c, 2 * validation + 1);
      turns[c] += turn;
      now += turn;
    }
    EXPECT_LE(now, 3);
  }
  EXPECT_EQ(turns, std::vector<int>(kClients, 1));
  for (const std::int64_t participants : {0, 8, 20}) {
    federation.participants = participants;
    for (int c = 0; c < kClients; ++c) EXPECT_TRUE(fedpp::federation::has_its_turn(federation, kClients, c, 5));
  }
}

TEST(EarlyStopping, keeps_the_best_round_and_stops_when_patience_is_over) {
  EarlyStopping stopping;
  stopping.patience = 2;
  EXPECT_TRUE(stopping.enter(0, -5.0));
  EXPECT_FALSE(stopping.enter(1, -5.0));  // equal: the earlier one stays
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_TRUE(stopping.enter(2, -4.0));
  EXPECT_FALSE(stopping.enter(3, std::nan("")));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_FALSE(stopping.enter(4, -4.5));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best_round, 2);
  EXPECT_EQ(stopping.best_score, -4.0);
}

TEST(EarlyStopping, a_round_that_misses_clients_is_no_better_for_it) {
  EarlyStopping stopping;
  EXPECT_TRUE(stopping.enter(0, -0.6, 1));
  EXPECT_TRUE(stopping.enter(1, -0.9, 0));
  EXPECT_FALSE(stopping.enter(2, -0.5, 1));
  EXPECT_FALSE(stopping.enter(3, std::nan(""), 0));
  EXPECT_TRUE(stopping.enter(4, -0.8, 0));
  EXPECT_EQ(stopping.best_round, 4);
  EXPECT_EQ(stopping.best_score, -0.8);
  EXPECT_EQ(stopping.best_missing, 0);
}

TEST(EarlyStopping, never_stops_without_patience) {
  EarlyStopping stopping;
  for (int round = 0; round < 50; ++round) stopping.enter(round, -round);
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_EQ(stopping.best_round, 0);
}
}  // namespace
