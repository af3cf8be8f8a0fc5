#include <gtest/gtest.h>

#include <cmath>

#include "data/random.hpp"
#include "data/tempering.hpp"

using namespace fedpp::data;

namespace {
/// Lists over [0,100] whose every event comes `burst` times.
ClientData lists(int count, int burst) {
  Random random(9, Purpose::kFolds, burst);
  ClientData client;
  for (int l = 0; l < count; ++l) {
    ClientSequence s;
    s.fold = l % 5;
    const Split split = s.fold == 0 ? kValidation : kTrain;
    s.windows[split] = {{0, 100}};
    for (double t = 10 * random.exponential(); t < 100; t += 10 * random.exponential())
      for (int i = 0; i < burst; ++i) s.events[split].push_back(t);
    client.sequences.push_back(s);
  }
  return client;
}
const Clock clock_100{false, 0, 1, 100};
}  // namespace

// Poisson lists of mean mu in a bin: (mu + mu^2) / mu, times the burst size where each event comes several times.
TEST(BurstSize, OfPoissonListsAndBursts) {
  const double mu = 0.5;
  EXPECT_NEAR(burst_size(lists(2000, 1), clock_100), 1 + mu, 0.03);
  EXPECT_NEAR(burst_size(lists(2000, 4), clock_100), 4 * (1 + mu), 0.12);
}

TEST(BurstSize, ByHand) {
  ClientData client;
  client.sequences.resize(3);
  client.sequences[0].windows[kTrain] = {{0, 100}};
  client.sequences[0].events[kTrain] = {1, 2, 99, 100};
  client.sequences[1].windows[kValidation] = {{0, 100}};
  client.sequences[1].events[kValidation] = {1, 2, 3};
  client.sequences[1].fold = 0;  // a fold of the training lists
  client.sequences[2].windows[kTest] = {{0, 100}};
  client.sequences[2].events[kTest] = {50, 50, 50, 50, 50};
  EXPECT_DOUBLE_EQ(burst_size(client, clock_100, 2), (4 + 4 + 9) / 7.0);
  EXPECT_DOUBLE_EQ(burst_size(client, clock_100, 1), (16 + 9) / 7.0);
  client.sequences[1].fold = -1;  // a later window of the same sequence: held out
  EXPECT_DOUBLE_EQ(burst_size(client, clock_100, 2), (4 + 4) / 4.0);
  EXPECT_TRUE(std::isnan(burst_size(ClientData{}, clock_100)));
}

TEST(Tempering, FollowsTheConfiguration) {
  fedpp::config::Model model;
  EXPECT_EQ(tempering(lists(50, 4), clock_100, model), 1);
  model.tempering = fedpp::config::Tempering::kFixed;
  model.temperature = 0.3;
  EXPECT_EQ(tempering(lists(50, 4), clock_100, model), 0.3);
  model.tempering = fedpp::config::Tempering::kDispersion;
  const double burst = burst_size(lists(50, 4), clock_100);
  EXPECT_DOUBLE_EQ(tempering(lists(50, 4), clock_100, model), 49.0 / 58.0 / std::sqrt(burst));
  EXPECT_EQ(tempering(lists(1, 4), clock_100, model), 0.02);
  EXPECT_EQ(tempering(ClientData{}, clock_100, model), 1);
}
