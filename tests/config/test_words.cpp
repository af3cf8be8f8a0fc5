// What files call the values of every enumeration, and that reading and writing know no other words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "config/dump.hpp"
#include "errors.hpp"

using namespace fedpp::config;
using testing::HasSubstr;

namespace {

/// The key's values in order: from a file, in archives, and all that the refusal of another word lists.
template <class E, class Member>
void expect_words(const std::string& section, const std::string& key, Member member,
                  const std::vector<std::pair<E, std::string>>& values) {
  std::string allowed;
  for (const auto& [value, text] : values) {
    allowed += (allowed.empty() ? "\"" : ", \"") + text + "\"";
    EXPECT_EQ(word(value), text);
    EXPECT_EQ(from_word<E>(text), value);
    Config config;
    member(config) = value;
    EXPECT_EQ(to_json(config)[section][key], text);
    EXPECT_THAT(dump(config), HasSubstr("\n" + key + " = \"" + text + "\"\n"));
  }
  EXPECT_EQ(from_word<E>("dance"), std::nullopt);
  EXPECT_EQ(error_with({section + "." + key + "=dance"}),
            "--set " + section + "." + key + "=dance: " + section + "." + key + " = \"dance\": allowed are " + allowed);
  EXPECT_EQ(error_with({section + "." + key + "=[1]"}),
            "--set " + section + "." + key + "=[1]: " + section + "." + key + " = \"[1]\": allowed are " + allowed);
}

TEST(Words, OfData) {
  expect_words<Protocol>("data", "protocol", [](Config& c) -> auto& { return c.data.protocol; },
                         {{Protocol::kChronological, "chronological"},
                          {Protocol::kPopulation, "population"},
                          {Protocol::kPublishedCode, "published-code"}});
  expect_words<Realisation>(
      "data", "realisation", [](Config& c) -> auto& { return c.data.realisation; },
      {{Realisation::kAuto, "auto"}, {Realisation::kPerSequence, "per-sequence"}, {Realisation::kPooled, "pooled"}});
  expect_words<Clock>("data", "clock", [](Config& c) -> auto& { return c.data.clock; },
                      {{Clock::kAuto, "auto"}, {Clock::kElapsed, "elapsed"}, {Clock::kCalendar, "calendar"}});
  expect_words<SplitAt>(
      "data", "split_at", [](Config& c) -> auto& { return c.data.split_at; },
      {{SplitAt::kAuto, "auto"}, {SplitAt::kHalfway, "halfway"}, {SplitAt::kEvent, "event"}, {SplitAt::kTime, "time"}});
  expect_words<Partition>("data", "partition", [](Config& c) -> auto& { return c.data.partition; },
                          {{Partition::kHeterogeneous, "heterogeneous"},
                           {Partition::kHomogeneous, "homogeneous"},
                           {Partition::kFile, "file"}});
}

TEST(Words, OfTheModelAndItsTraining) {
  expect_words<Encoder>("model", "encoder", [](Config& c) -> auto& { return c.model.encoder; },
                        {{Encoder::kAuto, "auto"},
                         {Encoder::kRbf, "rbf"},
                         {Encoder::kDeepKernel, "deep-kernel"},
                         {Encoder::kLstm, "lstm"},
                         {Encoder::kAttention, "attention"},
                         {Encoder::kDecay, "decay"}});
  expect_words<PriorMean>(
      "model", "mean", [](Config& c) -> auto& { return c.model.mean; },
      {{PriorMean::kAuto, "auto"}, {PriorMean::kConstant, "constant"}, {PriorMean::kLinear, "linear"}});
  expect_words<Tempering>(
      "model", "tempering", [](Config& c) -> auto& { return c.model.tempering; },
      {{Tempering::kNone, "none"}, {Tempering::kFixed, "fixed"}, {Tempering::kDispersion, "dispersion"}});
  expect_words<SdMap>("training", "sd_map", [](Config& c) -> auto& { return c.training.sd_map; },
                      {{SdMap::kSoftplus, "softplus"}, {SdMap::kExp, "exp"}});
  expect_words<Schedule>(
      "training", "schedule", [](Config& c) -> auto& { return c.training.schedule; },
      {{Schedule::kConstant, "constant"}, {Schedule::kCosine, "cosine"}, {Schedule::kInverseSqrt, "inverse-sqrt"}});
  expect_words<Precision>("training", "precision", [](Config& c) -> auto& { return c.training.precision; },
                          {{Precision::kDouble, "double"}, {Precision::kMixed, "mixed"}});
}

TEST(Words, OfTheFederation) {
  expect_words<Mode>("federation", "mode", [](Config& c) -> auto& { return c.federation.mode; },
                     {{Mode::kFederated, "federated"},
                      {Mode::kLocal, "local"},
                      {Mode::kFedavg, "fedavg"},
                      {Mode::kFedprox, "fedprox"},
                      {Mode::kPerFedavg, "per-fedavg"},
                      {Mode::kDitto, "ditto"},
                      {Mode::kFedala, "fedala"},
                      {Mode::kApple, "apple"}});
  expect_words<ClientStart>("federation", "client_start", [](Config& c) -> auto& { return c.federation.client_start; },
                            {{ClientStart::kContinue, "continue"},
                             {ClientStart::kOverwrite, "overwrite"},
                             {ClientStart::kMix, "mix"},
                             {ClientStart::kOptimised, "optimised"}});
  expect_words<Divergence>("aggregation", "divergence", [](Config& c) -> auto& { return c.aggregation.divergence; },
                           {{Divergence::kAuto, "auto"},
                            {Divergence::kKl, "kl"},
                            {Divergence::kW2, "w2"},
                            {Divergence::kFedavg, "fedavg"},
                            {Divergence::kMmd, "mmd"}});
  expect_words<UploadWeights>("aggregation", "weights", [](Config& c) -> auto& { return c.aggregation.weights; },
                              {{UploadWeights::kUniform, "uniform"}, {UploadWeights::kEvents, "events"}});
  expect_words<Estimator>(
      "aggregation", "estimator", [](Config& c) -> auto& { return c.aggregation.estimator; },
      {{Estimator::kMean, "mean"}, {Estimator::kMedian, "median"}, {Estimator::kTrimmedMean, "trimmed-mean"}});
  expect_words<Scope>("aggregation", "scope", [](Config& c) -> auto& { return c.aggregation.scope; },
                      {{Scope::kGlobal, "global"},
                       {Scope::kStructuralEntropy, "structural-entropy"},
                       {Scope::kSimilarityGraph, "similarity-graph"}});
  expect_words<Similarity>("aggregation", "similarity", [](Config& c) -> auto& { return c.aggregation.similarity; },
                           {{Similarity::kMeanOfCosines, "mean-of-cosines"},
                            {Similarity::kCosineOfMeans, "cosine-of-means"},
                            {Similarity::kCentredGram, "centred-gram"}});
  expect_words<AttackKind>("attack", "kind", [](Config& c) -> auto& { return c.attack.kind; },
                           {{AttackKind::kNone, "none"},
                            {AttackKind::kNoise, "noise"},
                            {AttackKind::kScaled, "scaled"},
                            {AttackKind::kSignFlipped, "sign-flipped"},
                            {AttackKind::kReplacedEvents, "replaced-events"}});
  expect_words<Dense>("backend", "dense", [](Config& c) -> auto& { return c.backend.dense; },
                      {{Dense::kAuto, "auto"}, {Dense::kBlas, "blas"}, {Dense::kTeam, "team"}});
}

TEST(Words, AMisspeltOneIsListedWithTheOtherMistakesAndWhereItStands) {
  const std::string text = error_of(kMinimal + "[model]\nencoder = 'lstn'\nwdith = 3\n", {"data.clock=sun"});
  EXPECT_THAT(text,
              HasSubstr("run.toml:4:1: model.encoder = \"lstn\": allowed are \"auto\", \"rbf\", \"deep-kernel\""));
  EXPECT_THAT(text, HasSubstr("model.wdith"));
  EXPECT_THAT(text, HasSubstr("--set data.clock=sun: data.clock = \"sun\": allowed are"));
  EXPECT_THAT(error_of(kMinimal + "[model]\nencoder = 3\n"),
              HasSubstr("model.encoder = 3: expected \"auto\", \"rbf\", "));
}

}  // namespace
