#include <gtest/gtest.h>

#include <cmath>

#include "config/range.hpp"
#include "config/suggestion.hpp"

using namespace fedpp::config;

TEST(Suggestion, EditDistanceCountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("rounds", "rounds"), 0u);
  EXPECT_EQ(edit_distance("round", "rounds"), 1u);
  EXPECT_EQ(edit_distance("rouunds", "rounds"), 1u);
  EXPECT_EQ(edit_distance("ruonds", "rounds"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Suggestion, NearestIsNearOrNothing) {
  EXPECT_EQ(nearest("partcipants", {"rounds", "participants", "seed"}), "participants");
  EXPECT_EQ(nearest("sead", {"rounds", "participants", "seed"}), "seed");
  EXPECT_EQ(nearest("colour", {"rounds", "participants", "seed"}), "");
  EXPECT_EQ(nearest("x", {"ab"}), "");  // nothing in common
}

TEST(Range, EndsAndText) {
  EXPECT_TRUE(at_least(1).contains(1));
  EXPECT_FALSE(above(1).contains(1));
  EXPECT_TRUE(above_up_to(0, 1).contains(1));
  EXPECT_FALSE(above_up_to(0, 1).contains(0));
  EXPECT_TRUE(from_below(0, 1).contains(0));
  EXPECT_FALSE(from_below(0, 1).contains(1));
  EXPECT_FALSE(between(0, 1).contains(1.5));
  EXPECT_FALSE(Range{}.contains(NAN));
  EXPECT_FALSE(Range{}.contains(INFINITY));
  EXPECT_EQ(at_least(1).text(), "at least 1");
  EXPECT_EQ(above(0).text(), "above 0");
  EXPECT_EQ(above_up_to(0, 1).text(), "in (0, 1]");
  EXPECT_EQ(from_below(0, 1).text(), "in [0, 1)");
  EXPECT_EQ(between(8, 60).text(), "in [8, 60]");
}
