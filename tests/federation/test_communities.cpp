// What communities say about themselves: mean similarities, and a doubt where there are no groups.
#include <gtest/gtest.h>

#include <cmath>

#include "federation/communities.hpp"

namespace {
using namespace fedpp::federation;

/// Clients 0 and 2 in one community, 1 alone.
Communities three_clients(double within, double between) {
  Communities c;
  c.clients = {0, 1, 2};
  c.partition = {0, 1, 0};
  c.weights = {0, between, within, between, 0, between / 2, within, between / 2, 0};
  return c;
}

TEST(Communities, MeanSimilarityIsOverPairs) {
  const auto mean = mean_similarity(three_clients(0.8, 0.4));
  EXPECT_DOUBLE_EQ(mean.within, 0.8);
  EXPECT_DOUBLE_EQ(mean.between, 0.3);
}

TEST(Communities, WithoutAPairThereIsNoMean) {
  EXPECT_TRUE(std::isnan(mean_similarity({}).between));
  Communities alone = three_clients(0.8, 0.4);
  alone.partition = {0, 1, 2};
  EXPECT_TRUE(std::isnan(mean_similarity(alone).within));
}

TEST(Communities, OnlyThoseThatAreAlikeAreDoubted) {
  EXPECT_EQ(doubt_about(three_clients(0.99, 0.5)), "");
  EXPECT_EQ(doubt_about(Communities{}), "");
  const auto text = doubt_about(three_clients(0.999, 1.3));  // 0.975 between
  EXPECT_NE(text.find("0.9990 within them, 0.9750 between them"), std::string::npos) << text;
}

}  // namespace
