#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "config/error.hpp"
#include "data/random.hpp"
#include "data/realisation.hpp"
#include "data/split.hpp"
#include "data/summary.hpp"

using namespace fedpp::data;

namespace {

/// Sequences with ties within and between them, cut chronologically.
ClientData tied_client(int sequences = 30) {
  Random random(5, Purpose::kFolds, 0);
  ClientData client;
  for (int s = 0; s < sequences; ++s) {
    ClientSequence sequence;
    sequence.id = s;
    double t = 100 + std::floor(8 * random.uniform()) / 4;
    for (int i = 0; i < 20; ++i) {
      sequence.times.push_back(t);
      t += std::floor(6 * random.uniform()) / 8;  // multiples of 1/8: ties are exact
    }
    std::int64_t outside = 0;
    if (cut_chronologically(sequence, false, {}, outside, {SplitAt::kHalfway})) client.sequences.push_back(sequence);
  }
  return client;
}

Clock elapsed() { return {true, 0, 4, 100}; }
Clock calendar() { return {false, 100, 4, 100}; }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST(Realisation, PooledMatchesBruteForce) {
  const ClientData client = tied_client();
  for (const Clock& clock : {elapsed(), calendar()})
    for (Split split : {kTrain, kValidation, kTest}) {
      RealisationRules rules;
      rules.pooled = true;
      rules.superposed = true;
      rules.clock = clock;
      const auto realisations = held_out_realisations(client, rules, split);
      ASSERT_EQ(realisations.size(), 1u);
      const Realisation& r = realisations[0];
      std::map<double, int> counts;
      double exposed = 0;
      auto map_time = [&](const ClientSequence& s, double t) { return (t - (clock.elapsed ? s.origin : 100)) * 4; };
      for (const ClientSequence& s : client.sequences) {
        for (double t : s.events[split]) ++counts[map_time(s, t)];
        for (const Interval& w : s.windows[split]) exposed += (w.end - w.start) * 4;
      }
      ASSERT_EQ(r.events.size(), counts.size());
      std::size_t i = 0;
      for (auto [time, n] : counts) {
        EXPECT_EQ(r.events[i], time);
        EXPECT_EQ(r.multiplicities[i], n);
        int covering = 0;
        for (const ClientSequence& s : client.sequences)
          for (const Interval& w : s.windows[split])
            covering += map_time(s, w.start) <= time && time <= map_time(s, w.end);
        EXPECT_NEAR(r.log_offsets[i], std::log(covering) + std::log(4.0), 1e-14);
        ++i;
      }
      EXPECT_LT(counts.size(), static_cast<std::size_t>(sum(r.multiplicities)));  // there are ties
      EXPECT_NEAR(sum(r.node_weights), exposed, 1e-9);
      EXPECT_EQ(r.nodes.size(), r.node_weights.size());
      for (double node : r.nodes) EXPECT_TRUE(r.span.start <= node && node <= r.span.end);
    }
}

TEST(Realisation, PerSequenceKeepsTheOrderOfSequences) {
  const ClientData client = tied_client();
  RealisationRules rules;
  rules.clock = elapsed();
  const auto training = training_realisations(client, rules), test = held_out_realisations(client, rules, kTest);
  ASSERT_EQ(training.size(), client.sequences.size());
  ASSERT_EQ(test.size(), client.sequences.size());
  for (std::size_t r = 0; r < training.size(); ++r) {
    const ClientSequence& s = client.sequences[r];
    EXPECT_EQ(sum(training[r].multiplicities), static_cast<double>(s.events[kTrain].size()));
    EXPECT_EQ(training[r].span.start, 0);
    EXPECT_DOUBLE_EQ(training[r].span.end, (s.windows[kTrain][0].end - s.origin) * 4);
    EXPECT_EQ(sum(test[r].multiplicities), static_cast<double>(s.events[kTest].size()));
    for (double offset : training[r].log_offsets) EXPECT_DOUBLE_EQ(offset, std::log(4.0));
  }
}

TEST(Realisation, TemperingScalesTrainingOnly) {
  ClientData client = tied_client();
  RealisationRules rules;
  rules.pooled = true;
  rules.clock = calendar();
  const auto plain = training_realisations(client, rules), held = held_out_realisations(client, rules, kTest);
  client.tempering = 0.25;
  const auto tempered = training_realisations(client, rules), held_again = held_out_realisations(client, rules, kTest);
  EXPECT_NEAR(sum(tempered[0].multiplicities), 0.25 * sum(plain[0].multiplicities), 1e-12);
  EXPECT_NEAR(sum(tempered[0].node_weights), 0.25 * sum(plain[0].node_weights), 1e-12);
  EXPECT_EQ(tempered[0].log_offsets, plain[0].log_offsets);
  EXPECT_EQ(held[0].node_weights, held_again[0].node_weights);
  EXPECT_EQ(held[0].multiplicities, held_again[0].multiplicities);
  EXPECT_EQ(sum(final_realisations(client, rules)[0].multiplicities),
            sum(plain[0].multiplicities) + sum(held_out_realisations(client, rules, kValidation)[0].multiplicities));
}

// Windows of training and validation touch; joined they are one stream, even for an event where they meet.
TEST(Realisation, TouchingWindowsOfAStreamCountOnce) {
  ClientData client;
  ClientSequence s;
  s.events[kTrain] = {1, 2};
  s.windows[kTrain] = {{0, 2}};
  s.windows[kValidation] = {{2, 5}};
  s.events[kValidation] = {4};
  client.sequences = {s};
  RealisationRules rules;
  rules.pooled = true;
  rules.clock = {false, 0, 1, 5};
  const auto r = final_realisations(client, rules)[0];
  for (double offset : r.log_offsets) EXPECT_EQ(offset, 0);
  EXPECT_NEAR(sum(r.node_weights), 5, 1e-12);
}

TEST(Realisation, StreamsWithoutEventsExpose) {
  ClientData client;
  client.sequences.resize(3);
  for (auto& s : client.sequences) s.windows[kTrain] = {{0, 10}};
  RealisationRules rules;
  rules.pooled = true;
  rules.clock = {false, 0, 1, 10};
  const auto r = training_realisations(client, rules)[0];
  EXPECT_TRUE(r.events.empty());
  EXPECT_NEAR(sum(r.node_weights), 30, 1e-12);
  EXPECT_TRUE(held_out_realisations(client, rules, kTest)[0].nodes.empty());
}

TEST(Realisation, UnitExposure) {
  ClientData client = tied_client();
  RealisationRules rules;
  rules.pooled = rules.unit_exposure = true;
  rules.clock = calendar();
  const auto r = training_realisations(client, rules)[0];
  EXPECT_NEAR(sum(r.node_weights), r.span.end - r.span.start, 1e-9);
  for (double offset : r.log_offsets) EXPECT_DOUBLE_EQ(offset, std::log(4.0));
}

TEST(Realisation, NodesFollowSizeAndPeriods) {
  const ClientData client = tied_client();
  RealisationRules rules;
  rules.clock = calendar();
  rules.pooled = true;
  rules.inducing = 50;
  EXPECT_EQ(training_realisations(client, rules)[0].nodes.size(), 200u);
  rules.nodes = 77;
  EXPECT_EQ(training_realisations(client, rules)[0].nodes.size(), 77u);
  rules.nodes = 0;
  rules.period = 0.5;
  const auto r = training_realisations(client, rules)[0];
  EXPECT_GE(r.nodes.size(), 10 * (r.span.end - r.span.start) / 0.5);
  // A rhythm of that period is integrated well.
  double daily = 0, fine = 0;
  auto g = [](double t) { return std::exp(0.5 * std::cos(2 * std::numbers::pi * t / 0.5)); };
  for (std::size_t q = 0; q < r.nodes.size(); ++q) daily += r.node_weights[q] * g(r.nodes[q]);
  rules.nodes = 40000;
  const auto reference = training_realisations(client, rules)[0];
  for (std::size_t q = 0; q < reference.nodes.size(); ++q) fine += reference.node_weights[q] * g(reference.nodes[q]);
  EXPECT_NEAR(daily / fine, 1, 1e-6);
}

TEST(RealisationRules, HaveTheShortestPeriodInTheModelsUnitOfTime) {
  Plan plan;
  plan.finished = true;
  plan.clock = {false, 3, 0.25, 100};
  fedpp::config::Model model;
  EXPECT_EQ(realisation_rules(plan, model).period, 0);
  model.periods = {168, 24, 8766};
  EXPECT_EQ(realisation_rules(plan, model).period, 6);
}

TEST(Realisation, PeriodsInAnotherUnitAreRefusedInWords) {
  const ClientData client = tied_client();
  RealisationRules rules;
  rules.clock = calendar();
  rules.pooled = true;
  rules.period = 1e-6 * rules.clock.scale;
  try {
    training_realisations(client, rules);
    FAIL() << "a period a millionth of a unit long";
  } catch (const fedpp::UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("model.periods: the shortest, 1e-06, fits "));
    EXPECT_THAT(error.what(), testing::HasSubstr("the file's unit of time"));
  }
  rules.nodes = 77;
  EXPECT_EQ(training_realisations(client, rules)[0].nodes.size(), 77u);
}

TEST(Realisation, NodesOfHeldOutWindowsLieAsDenselyAsInTraining) {
  ClientSequence sequence;
  sequence.times = {1, 85, 95};
  sequence.windows[kTrain] = {{0, 80}};
  sequence.windows[kValidation] = {{80, 90}};
  sequence.windows[kTest] = {{90, 250}};
  ClientData client;
  client.sequences = {sequence};
  RealisationRules rules;
  rules.clock = {true, 0, 1, 100};
  rules.inducing = 40;
  EXPECT_EQ(training_realisations(client, rules)[0].nodes.size(), 80u);
  EXPECT_EQ(held_out_realisations(client, rules, kValidation)[0].nodes.size(), 10u);
  EXPECT_EQ(held_out_realisations(client, rules, kTest)[0].nodes.size(), 80u) << "never more";
  // Of streams laid over each other: a share of the time from the first one's begin to the last one's end.
  ClientSequence shorter = sequence;
  shorter.windows[kTrain] = {{0, 20}};
  ClientData both;
  both.sequences = {sequence, shorter};
  RealisationRules pooled = rules;
  pooled.pooled = true;
  EXPECT_EQ(held_out_realisations(both, pooled, kValidation)[0].nodes.size(), 20u);
  // A function as smooth as inducing points, 2 apart, can make it: the rule on the short window errs no more.
  const auto error = [&](const Realisation& r) {
    double integral = 0;
    for (std::size_t q = 0; q < r.nodes.size(); ++q) integral += r.node_weights[q] * std::sin(r.nodes[q] / 4);
    return std::fabs(integral - 4 * (std::cos(r.span.start / 4) - std::cos(r.span.end / 4)));
  };
  EXPECT_LT(error(training_realisations(client, rules)[0]), 1e-7);
  EXPECT_LT(error(held_out_realisations(client, rules, kValidation)[0]), 1e-7);
}

TEST(Summary, CountsWhatTheClientHolds) {
  const ClientData client = tied_client();
  const ClientSummary summary = summarise(client);
  RealisationRules rules;
  rules.pooled = true;
  rules.clock = calendar();
  const auto r = training_realisations(client, rules)[0];
  EXPECT_EQ(summary.sequences[kTrain], static_cast<std::int64_t>(client.sequences.size()));
  EXPECT_EQ(summary.events[kTrain], static_cast<std::int64_t>(sum(r.multiplicities)));
  EXPECT_EQ(summary.distinct[kTrain], static_cast<std::int64_t>(r.events.size()));
}

TEST(Summary, TableNamesItsColumnsOnceAndRunsOfTypesByTheirEnds) {
  ClientSummary a{0, std::vector{0, 1, 2, 3}, {10, 2, 2}, {100, 20, 30}, {99, 20, 30}, {}};
  ClientSummary b{12, std::vector{74, 75, 0, 7}, {8, 1, 1}, {12345, 6, 7}, {12345, 6, 7}, {}};
  EXPECT_EQ(summary_table({a, b}),
            "        --- sequences ----  ----- events -----  train\n"
            "client  train  valid  test  train  valid  test  times  types\n"
            "     0     10      2     2    100     20    30     99  0-3\n"
            "    12      8      1     1  12345      6     7  12345  74-75,0,7\n"
            "   all     18      3     3  12445     26    37  12444\n");
  b.left_out = {.sequences = 3, .sequence_events = 11};
  b.id = 1;
  const std::string table = summary_table({a, b}, {"north", "south, old"});
  EXPECT_NE(table.find("train  --- left out ----\n"), std::string::npos) << table;
  EXPECT_NE(table.find("times  sequences  events  types  name\n"), std::string::npos) << table;
  EXPECT_NE(table.find("12345          3      11  74-75,0,7  south, old\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\nleft out: sequences of fewer than five"), std::string::npos);
}
