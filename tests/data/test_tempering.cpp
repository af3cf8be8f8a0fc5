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

TEST(Dispersion, OneForPoissonAndTheBurstSizeForBursts) {
  EXPECT_NEAR(dispersion(lists(2000, 1), clock_100), 1, 0.06);
  EXPECT_NEAR(dispersion(lists(2000, 4), clock_100), 4, 0.24);
}

TEST(Dispersion, ByHand) {
  ClientData client;
  client.sequences.resize(2);
  client.sequences[0].windows[kTrain] = client.sequences[1].windows[kTrain] = {{0, 100}};
  client.sequences[0].events[kTrain] = {1, 2, 99, 100};
  client.sequences[1].events[kTrain] = {50};
  // Two bins: counts (2, 2) and (0, 1): variances 2 and 1/2, means 1 and 3/2.
  EXPECT_DOUBLE_EQ(dispersion(client, clock_100, 2), 2.5 / 2.5);
  // Four bins: (2,0,0,2), (0,0,1,0): variances 2, 0, 1/2, 2; means 1, 0, 1/2, 1.
  EXPECT_DOUBLE_EQ(dispersion(client, clock_100, 4), 4.5 / 2.5);
}

TEST(Tempering, FollowsTheConfiguration) {
  fedpp::config::Model model;
  EXPECT_EQ(tempering(lists(50, 4), clock_100, model), 1);
  model.tempering = "fixed";
  model.temperature = 0.3;
  EXPECT_EQ(tempering(lists(50, 4), clock_100, model), 0.3);
  model.tempering = "dispersion";
  const double phi = dispersion(lists(50, 4), clock_100);
  EXPECT_DOUBLE_EQ(tempering(lists(50, 4), clock_100, model), 1 / phi);
  EXPECT_EQ(tempering(lists(1, 4), clock_100, model), 1);
  EXPECT_EQ(tempering(lists(300, 200), clock_100, model), 0.02);
}
