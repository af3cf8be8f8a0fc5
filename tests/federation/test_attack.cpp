#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "federation/attack.hpp"
#include "federation/participants.hpp"

namespace {
using namespace fedpp;
using config::AttackKind;

config::Config config_of(AttackKind kind, double share, double strength) {
  config::Config config;
  config.data.clients = 20;
  config.attack = {kind, share, strength};
  return config;
}

TEST(Attack, TheHostileClientsAreAShareDrawnByTheSeed) {
  EXPECT_TRUE(federation::hostile_clients(config_of(AttackKind::kNone, 0.5, 1)).empty());
  for (const auto& [share, count] : {std::pair{0.0, 0u}, {0.1, 2u}, {0.2, 4u}, {1.0, 20u}}) {
    const auto hostile = federation::hostile_clients(config_of(AttackKind::kNoise, share, 1));
    EXPECT_EQ(hostile.size(), count);
    EXPECT_TRUE(std::is_sorted(hostile.begin(), hostile.end()));
    EXPECT_EQ(std::set(hostile.begin(), hostile.end()).size(), count);
  }
  auto other = config_of(AttackKind::kNoise, 0.2, 1);
  other.federation.seed = 2;
  EXPECT_NE(federation::hostile_clients(other), federation::hostile_clients(config_of(AttackKind::kNoise, 0.2, 1)));
  EXPECT_EQ(federation::hostile_clients(config_of(AttackKind::kScaled, 0.2, 1)),
            federation::hostile_clients(config_of(AttackKind::kNoise, 0.2, 1)));
}

/// Or a federation of few participants a round would meet all of them in its first one.
TEST(Attack, TheHostileClientsAreNotTheFirstRoundsParticipants) {
  int alike = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    auto config = config_of(AttackKind::kNoise, 0.2, 1);
    config.federation.seed = seed;
    alike += federation::hostile_clients(config) == federation::sample_participants(20, 4, seed, 0, 1);
  }
  EXPECT_LT(alike, 3);
}

TEST(Attack, UploadsAreTamperedWithAsTheySay) {
  const model::WeightPosterior upload{{1, 2, 3}, {0.1, 0.2, 0.3}}, theta{{0.5, 2, 4}, {1, 1, 1}};
  const auto scaled = federation::tampered(config_of(AttackKind::kScaled, 1, 10), upload, theta, 3, 0);
  EXPECT_EQ(scaled.mean, (std::vector<double>{5.5, 2, -6}));
  EXPECT_EQ(scaled.sd, upload.sd);
  EXPECT_EQ(federation::tampered(config_of(AttackKind::kSignFlipped, 1, 1), upload, theta, 3, 0).mean,
            (std::vector<double>{0, 2, 5}));
  EXPECT_EQ(federation::tampered(config_of(AttackKind::kSignFlipped, 1, 2), upload, theta, 3, 0).mean,
            (std::vector<double>{-0.5, 2, 6}));
  EXPECT_EQ(federation::tampered(config_of(AttackKind::kReplacedEvents, 1, 1), upload, theta, 3, 0).mean, upload.mean);
}

TEST(Attack, NoiseIsNewInEveryRoundAndOfItsStrength) {
  const std::size_t n = 4000;
  const model::WeightPosterior upload{std::vector<double>(n, 1.0), std::vector<double>(n, 0.1)};
  const model::WeightPosterior theta{std::vector<double>(n, 0.0), std::vector<double>(n, 0.5)};
  const auto config = config_of(AttackKind::kNoise, 1, 4);
  const auto first = federation::tampered(config, upload, theta, 3, 0).mean;
  double mean = 0, square = 0;
  for (const double r : first) mean += (r - 1) / n, square += (r - 1) * (r - 1) / n;
  EXPECT_NEAR(mean, 0, 0.15);
  EXPECT_NEAR(std::sqrt(square), 2, 0.1);
  EXPECT_EQ(federation::tampered(config, upload, theta, 3, 0).mean, first);
  EXPECT_NE(federation::tampered(config, upload, theta, 3, 1).mean, first);
  EXPECT_NE(federation::tampered(config, upload, theta, 4, 0).mean, first);
}

}  // namespace
