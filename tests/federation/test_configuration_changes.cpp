// What a resumed run compares: changed keys, keys that one of the two versions does not know, checkpoints of newer
// layouts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "federation/checkpoint.hpp"
#include "federation/configuration_changes.hpp"

namespace fedpp::federation {
namespace {

TEST(ConfigurationChanges, NamesWhatDiffersAndWhetherItMatters) {
  config::Config then, now;
  EXPECT_TRUE(changes_since(archive(then), now).empty());
  config::settle(now);  // earlier versions kept "auto" for some keys; then is of such a one
  then.data.realisation = now.data.realisation;
  then.aggregation.divergence = now.aggregation.divergence;
  EXPECT_TRUE(changes_since(archive(then), now).empty());
  now.data.split_at = config::SplitAt::kTime;
  EXPECT_EQ(to_text(changes_since(archive(then), now), true), "\n  data.split_at = \"time\" (checkpoint: \"auto\")");
  now = then;
  now.model.inducing = 9;
  now.federation.rounds = 7;
  now.output.directory = "elsewhere";
  const auto changes = changes_since(archive(then), now);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(to_text(changes, true), "\n  model.inducing = 9 (checkpoint: 50)");
  EXPECT_EQ(to_text(changes, false),
            "\n  federation.rounds = 7 (checkpoint: 100)\n  output.directory = \"elsewhere\" (checkpoint: \"out\")");
}

TEST(ConfigurationChanges, WhatChoosesTheBestRoundMattersAndTheLastRoundWhereTheRatesEndWithIt) {
  config::Config then, now;
  now.federation.patience = 3;
  now.federation.validate_every = 7;
  now.federation.rounds = 7;
  EXPECT_EQ(changes_since(archive(then), now).size(), 3u);
  const std::string best = to_text(changes_since(archive(then), now), true);
  EXPECT_NE(best.find("federation.patience"), std::string::npos) << best;
  EXPECT_NE(best.find("federation.validate_every"), std::string::npos) << best;
  EXPECT_EQ(best.find("federation.rounds"), std::string::npos) << best;
  then.training.schedule = now.training.schedule = config::Schedule::kCosine;
  const std::string with_rounds = to_text(changes_since(archive(then), now), true);
  EXPECT_NE(with_rounds.find("federation.rounds = 7 (checkpoint: 100)"), std::string::npos) << with_rounds;
  then.training.schedule = now.training.schedule = config::Schedule::kConstant;
  then.federation.mode = now.federation.mode = config::Mode::kApple;  // whose penalty falls over a tenth of the rounds
  const std::string with_apple = to_text(changes_since(archive(then), now), true);
  EXPECT_NE(with_apple.find("federation.rounds = 7 (checkpoint: 100)"), std::string::npos) << with_apple;
}

TEST(ConfigurationChanges, AKeyWithoutEffectDoesNotMatter) {
  config::Config then, now;
  then.aggregation.trim = 0.3;
  EXPECT_EQ(to_text(changes_since(archive(then), now), true), "");
  EXPECT_EQ(to_text(changes_since(archive(then), now), false), "\n  aggregation.trim = 0.2 (checkpoint: 0.3)");
  now.aggregation.estimator = then.aggregation.estimator = config::Estimator::kTrimmedMean;
  EXPECT_EQ(to_text(changes_since(archive(then), now), true), "\n  aggregation.trim = 0.2 (checkpoint: 0.3)");
}

TEST(ConfigurationChanges, OnlySomeGiveTheArraysAnotherMeaning) {
  config::Config then, now;
  then.model.periods = {24};
  now.model.periods = {12};
  now.federation.seed = 2;
  for (const auto& change : changes_since(archive(then), now)) EXPECT_FALSE(change.shape) << change.key;
  now = then;
  now.model.encoder = config::Encoder::kLstm;
  now.model.periods = {12, 24};
  for (const auto& change : changes_since(archive(then), now)) EXPECT_TRUE(change.shape) << change.key;
}

TEST(ConfigurationChanges, AKeyFromBeforeItWasThereHadItsDefault) {
  auto then = nlohmann::ordered_json::parse(archive(config::Config{}));
  then["model"].erase("inducing");
  then.erase("aggregation");
  config::Config now;
  EXPECT_TRUE(changes_since(then.dump(), now).empty());
  now.model.inducing = 9;
  EXPECT_EQ(to_text(changes_since(then.dump(), now), true), "\n  model.inducing = 9 (checkpoint: 50)");
}

TEST(ConfigurationChanges, AKeyFromBeforeItWasThereHadTheDefaultOfThen) {
  config::Config now;
  now.model.encoder = config::Encoder::kLstm;
  now.model.mean = config::PriorMean::kLinear;
  auto then = nlohmann::ordered_json::parse(archive(now));
  then["model"].erase("mean");
  then["model"].erase("time_input");
  EXPECT_EQ(to_text(changes_since(then.dump(), now), true),
            "\n  model.time_input = false (checkpoint: true)\n  model.mean = \"linear\" (checkpoint: \"constant\")");
}

TEST(ConfigurationChanges, AKeyThatOnlyANewerVersionKnowsIsNotPassedOver) {
  auto then = nlohmann::ordered_json::parse(archive(config::Config{}));
  then["model"]["magic"] = 3;
  EXPECT_EQ(to_text(changes_since(then.dump(), config::Config{}), true),
            "\n  model.magic = unknown to this version (checkpoint: 3)");
}

TEST(CheckpointLayout, NewerOnesAreReadWhereTheySayThatTheyCanBe) {
  const auto path = (std::filesystem::temp_directory_path() / ("fedpp-layout-" + std::to_string(getpid()))).string();
  auto file = io::File::create(path);
  EXPECT_NO_THROW(check_layout(file));  // from before layouts were numbered
  file.set_attribute("layout", kCheckpointLayout + 5);
  file.set_attribute("oldest_reader", kCheckpointLayout);
  EXPECT_NO_THROW(check_layout(file));
  file.set_attribute("oldest_reader", kCheckpointLayout + 1);
  EXPECT_THROW(check_layout(file), UserError);
  file.close();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fedpp::federation
