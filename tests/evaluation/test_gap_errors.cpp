// Held-out gaps, the simple predictors of them, and their table.
#include <gtest/gtest.h>

#include <cmath>

#include "evaluation/gap_errors.hpp"
#include "evaluation/hawkes.hpp"

namespace {

using namespace fedpp;
using namespace fedpp::evaluation;

data::ClientSequence sequence(std::vector<double> times, std::vector<double> train, std::vector<double> test,
                              std::vector<data::Interval> train_windows, std::vector<data::Interval> test_windows) {
  data::ClientSequence s;
  s.times = std::move(times);
  s.history_types.assign(s.times.size(), 0);
  s.events = {std::move(train), {}, std::move(test)};
  s.windows = {std::move(train_windows), {}, std::move(test_windows)};
  return s;
}

TEST(GapSteps, start_at_the_last_distinct_time_whatever_its_split) {
  data::ClientData client;
  client.sequences.push_back(sequence({0, 1, 1, 4, 6, 6, 9}, {1, 1, 4}, {6, 6, 9}, {{0, 5}}, {{5, 9}}));
  const auto train = gap_steps(client, data::kTrain), test = gap_steps(client, data::kTest);
  ASSERT_EQ(train.size(), 2u);
  EXPECT_EQ(train[0].gap, 1);
  EXPECT_EQ(train[0].before, 1u);
  EXPECT_EQ(train[1].gap, 3);
  EXPECT_EQ(train[1].before, 3u);
  ASSERT_EQ(test.size(), 2u);
  EXPECT_EQ(test[0].previous, 4);
  EXPECT_EQ(test[0].gap, 2);
  EXPECT_EQ(test[0].before, 4u);
  EXPECT_EQ(test[1].gap, 3);
  EXPECT_EQ(test[1].before, 6u);
  const auto typical = typical_gap(client);
  EXPECT_EQ(typical.mean, 2);
  EXPECT_EQ(typical.median, 2);
}

TEST(TypicalGap, is_the_mean_and_the_middle_of_the_gaps_by_length) {
  data::ClientData client;
  client.sequences.push_back(sequence({0, 7, 8, 11}, {7, 8, 11}, {}, {{0, 11}}, {}));  // gaps of 7, 1 and 3
  EXPECT_DOUBLE_EQ(typical_gap(client).mean, 11 / 3.0);
  EXPECT_EQ(typical_gap(client).median, 3);
  client.sequences.push_back(sequence({0, 20}, {20}, {}, {{0, 20}}, {}));
  EXPECT_EQ(typical_gap(client).median, 5);
}

TEST(GapSteps, leave_out_the_first_time_and_steps_through_unobserved_time) {
  data::ClientData client;
  client.sequences.push_back(sequence({1, 2, 6, 7}, {1, 2}, {6, 7}, {{0, 3}}, {{5, 8}}));
  const auto train = gap_steps(client, data::kTrain), test = gap_steps(client, data::kTest);
  ASSERT_EQ(train.size(), 1u);  // 1 has nothing before it
  EXPECT_EQ(train[0].gap, 1);
  ASSERT_EQ(test.size(), 1u);  // from 2 to 6 nobody looked between 3 and 5
  EXPECT_EQ(test[0].previous, 6);
  EXPECT_TRUE(std::isnan(typical_gap({}).mean));
}

TEST(GapSteps, are_whole_gaps_unless_the_observation_ends_or_pauses_without_an_event) {
  const auto cut = [](const data::ClientSequence& s) {
    data::ClientData client;
    client.sequences = {s};
    return cuts_gaps(client);
  };
  EXPECT_FALSE(cut(sequence({0, 1, 4, 6}, {1, 4}, {6}, {{0, 5}}, {{5, 6}})));
  EXPECT_TRUE(cut(sequence({0, 1, 4, 6}, {1, 4}, {6}, {{0, 5}}, {{5, 6.5}})));
  EXPECT_TRUE(cut(sequence({0, 1, 4, 6}, {1, 4}, {6}, {{0, 4.5}}, {{5, 6}})));
  EXPECT_TRUE(cut(sequence({}, {}, {}, {{0, 5}}, {{5, 6}})));
  EXPECT_FALSE(cuts_gaps({}));
}

TEST(HawkesGaps, are_the_expectations_of_the_fitted_process) {
  data::ClientData client;
  std::vector<double> times;
  for (int burst = 0; burst < 12; ++burst)
    for (const double offset : {0.0, 0.1, 0.25, 0.5}) times.push_back(4.0 * burst + 0.3 * (burst % 3) + offset);
  const double cut = 0.5 * (times[39] + times[40]);
  client.sequences.push_back(sequence(times, {times.begin() + 1, times.begin() + 40}, {times.begin() + 40, times.end()},
                                      {{0, cut}}, {{cut, times.back()}}));
  // A second sequence, which knows nothing of the first one's events.
  client.sequences.push_back(sequence({0, 0.05, 0.1, 0.2, 0.6}, {0.05}, {0.1, 0.2, 0.6}, {{0, 0.07}}, {{0.07, 0.6}}));
  const auto steps = gap_steps(client, data::kTest);
  ASSERT_EQ(steps.size(), 11u);
  const auto gaps = hawkes_gaps(client, steps, gap_grid(1e-4, 40, kGapCells));
  const auto p = fit_hawkes(client);
  ASSERT_GT(p.branching, 0.1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double excited = 0;
    const auto& history = client.sequences[steps[i].sequence].times;
    for (std::size_t j = 0; j < steps[i].before; ++j) excited += std::exp(-p.decay * (steps[i].previous - history[j]));
    double expected = 0;  // int S by the midpoint rule, Lambda in closed form
    const double step = 1e-3;
    for (int k = 0; k < 100000; ++k) {
      const double g = (k + 0.5) * step;
      expected += step * std::exp(-p.base * g + p.branching * excited * std::expm1(-p.decay * g));
    }
    EXPECT_NEAR(gaps[i] / expected, 1, 1e-3) << i;
  }
}

TEST(GapTable, gives_root_mean_squares_and_mean_absolutes) {
  GapTable table{"hour", 10, {2, 0}, {{"ours", {}}}};
  table.rows[0].errors[0].add(1, 4);
  table.rows[0].errors[0].add(5, 1);
  const auto json = to_json(table);
  EXPECT_EQ(json["validation"]["events"], 2);
  EXPECT_DOUBLE_EQ(json["validation"]["predictors"][0]["rmse"], std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(json["validation"]["predictors"][0]["mae"], 3.5);
  EXPECT_TRUE(json["test"]["predictors"][0]["rmse"].is_null());
  EXPECT_NE(to_text(table).find("3.53553"), std::string::npos);
  EXPECT_NE(to_text(table).find("hour"), std::string::npos);
  EXPECT_EQ(to_text(table).find("observed whole"), std::string::npos);
  table.cut = true;
  EXPECT_NE(to_text(table).find("observed whole"), std::string::npos);
  EXPECT_EQ(to_json(table)["cut"], true);
}

}  // namespace
