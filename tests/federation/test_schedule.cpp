#include <gtest/gtest.h>

#include <cmath>

#include "config/error.hpp"
#include "federation/schedule.hpp"

namespace {
using fedpp::federation::EarlyStopping;
using fedpp::federation::learning_rate_factor;

TEST(Schedule, factors_of_the_learning_rate) {
  for (const char* name : {"constant", "cosine", "inverse-sqrt"}) EXPECT_EQ(learning_rate_factor(name, 0, 100), 1.0);
  EXPECT_EQ(learning_rate_factor("constant", 99, 100), 1.0);
  EXPECT_NEAR(learning_rate_factor("cosine", 50, 100), 0.5, 1e-15);
  EXPECT_GT(learning_rate_factor("cosine", 99, 100), 0.0);
  EXPECT_NEAR(learning_rate_factor("inverse-sqrt", 99, 100), 0.1, 1e-15);
  EXPECT_THROW(learning_rate_factor("linear", 0, 100), fedpp::UserError);
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

TEST(EarlyStopping, never_stops_without_patience) {
  EarlyStopping stopping;
  for (int round = 0; round < 50; ++round) stopping.enter(round, -round);
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_EQ(stopping.best_round, 0);
}
}  // namespace
