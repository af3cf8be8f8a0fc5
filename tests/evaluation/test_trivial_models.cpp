#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "config/error.hpp"
#include "evaluation/hawkes.hpp"
#include "evaluation/trivial_models.hpp"

namespace fedpp::evaluation {
namespace {

std::map<std::string, Score> by_name(const data::ClientData& client, data::Split split,
                                     const TrivialSettings& settings) {
  std::map<std::string, Score> result;
  for (const TrivialScore& s : trivial_scores(client, split, settings)) result[s.model] = s.score;
  return result;
}

/// A list that belongs wholly to one split, on the window [0, 10].
data::ClientSequence list(data::Split split, std::vector<double> times) {
  data::ClientSequence s;
  s.times = times;
  s.events[split] = std::move(times);
  s.windows[split] = {{0, 10}};
  return s;
}

data::ClientData two_users_tested_on_three() {
  data::ClientData client;
  client.sequences = {list(data::kTrain, {1, 1, 4}), list(data::kTrain, {9}), list(data::kTest, {2, 3}),
                      list(data::kTest, {}), list(data::kTest, {10})};
  return client;
}

const TrivialSettings kPopulation{Protocol::kPopulation, false};
const TrivialSettings kChronological{Protocol::kChronological, true};

TEST(TrivialModels, NamesAreThoseScored) {
  const data::ClientData client = two_users_tested_on_three();
  for (Protocol protocol : {Protocol::kPopulation, Protocol::kPublishedCode, Protocol::kChronological}) {
    const auto names = trivial_model_names(protocol);
    const auto scores = trivial_scores(client, data::kTest, {protocol, false});
    ASSERT_EQ(scores.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(scores[i].model, names[i]);
  }
}

TEST(TrivialModels, PopulationCorrectsForExposure) {
  const auto scores = by_name(two_users_tested_on_three(), data::kTest, kPopulation);
  // 4 events of 2 lists over 10: 0.2 a list; 3 test lists, silence of the empty one counted.
  EXPECT_NEAR(scores.at("homogeneous").headline, 3 * std::log(3 * 0.2) - 3 * 0.2 * 10, 1e-12);
  EXPECT_DOUBLE_EQ(scores.at("homogeneous").events, 3);
  // 50 bins of 0.2; training events in bins 5 (two), 20 and 45, half an event in the other 47; no test event in theirs.
  const double one = 1 / (0.2 * 2);
  EXPECT_NEAR(scores.at("histogram, 50 bins").headline,
              3 * std::log(3 * 0.5 * one) - 3 * 0.2 * one * (2 + 1 + 1 + 47 * 0.5), 1e-10);
}

TEST(TrivialModels, PublishedCodeHasNeitherExposureNorALogarithmAlone) {
  const auto scores = by_name(two_users_tested_on_three(), data::kTest, {Protocol::kPublishedCode, false});
  EXPECT_NEAR(scores.at("homogeneous").headline, 3 * std::log1p(0.4) - 4, 1e-12);
  EXPECT_NEAR(scores.at("histogram, 50 bins").headline, 3 * std::log1p(0.5 / 0.2) - (4 + 47 * 0.5), 1e-10);
}

TEST(TrivialModels, ListsHeldForValidationTrainTheModelThatIsTested) {
  data::ClientData client = two_users_tested_on_three();
  std::swap(client.sequences[1].events[data::kTrain], client.sequences[1].events[data::kValidation]);
  std::swap(client.sequences[1].windows[data::kTrain], client.sequences[1].windows[data::kValidation]);
  EXPECT_EQ(by_name(client, data::kTest, kPopulation).at("histogram, 50 bins").headline,
            by_name(two_users_tested_on_three(), data::kTest, kPopulation).at("histogram, 50 bins").headline);
}

/// Two sequences of different rates, origins and lengths with half-way windows.
data::ClientData chronological_client() {
  data::ClientData client;
  client.sequences.resize(2);
  data::ClientSequence& a = client.sequences[0];
  a.origin = 100;
  a.times = {100, 101, 102, 103, 104, 106, 108, 109, 110, 112};
  a.events = {std::vector<double>{101, 102, 103, 104, 106, 108}, {109}, {110, 112}};
  a.windows = {std::vector<data::Interval>{{100, 108.5}}, {{108.5, 109.5}}, {{109.5, 112}}};
  data::ClientSequence& b = client.sequences[1];
  b.origin = 7;
  b.times = {7, 7.5, 7.5, 8, 8.25, 9, 9.25};
  b.events = {std::vector<double>{7.5, 7.5, 8, 8.25}, {}, {9, 9.25}};
  b.windows = {std::vector<data::Interval>{{7, 8.5}}, {}, {{8.5, 9.25}}};
  return client;
}

TEST(TrivialModels, ChronologicalRatesAreThoseByHand) {
  const data::ClientData client = chronological_client();
  const auto scores = by_name(client, data::kTest, kChronological);
  const double rate = 10 / 10.0;
  EXPECT_NEAR(scores.at("homogeneous").headline, 4 * std::log(rate) - rate * 3.25, 1e-12);
  const double a = 7 / 9.5, b = 5 / 2.5;  // h = 1
  EXPECT_NEAR(scores.at("homogeneous per sequence").headline, 2 * std::log(a) - a * 2.5 + 2 * std::log(b) - b * 0.75,
              1e-12);
  // k = 2 of 6 after 104 (4.5 long); k = 1 of 4 after 8 (0.5 long).
  const double last_a = 3 / 5.5, last_b = 2 / 1.5;
  EXPECT_NEAR(scores.at("last-window rate").headline,
              2 * std::log(last_a) - last_a * 2.5 + 2 * std::log(last_b) - last_b * 0.75, 1e-12);
  EXPECT_NEAR(scores.at("Hawkes, exponential").headline, hawkes_log_likelihood(client, data::kTest, fit_hawkes(client)),
              1e-12);
  for (const auto& [name, score] : scores) EXPECT_DOUBLE_EQ(score.events, 4) << name;
}

TEST(TrivialModels, ASequenceWithoutTrainingEventsHasOneEventsWorthOfTheClientsRate) {
  data::ClientData client;
  client.sequences.resize(2);
  client.sequences[0].times = {0.5, 1, 2, 3, 3.5, 4.5};
  client.sequences[0].events = {std::vector<double>{0.5, 1, 2, 3, 3.5}, {}, {4.5}};
  client.sequences[0].windows = {std::vector<data::Interval>{{0, 4}}, {}, {{4, 5}}};
  client.sequences[1].windows = {std::vector<data::Interval>{{0, 6}}, {}, {{6, 9}}};
  const auto scores = by_name(client, data::kTest, kChronological);
  const double silent = 1 / (6 + 2.0);                      // h = 5 / 10
  const double busy = 6 / (4 + 2.0), last = 2 / (1 + 2.0);  // k = 1, after 3
  EXPECT_NEAR(scores.at("homogeneous per sequence").headline, std::log(busy) - busy - 3 * silent, 1e-12);
  EXPECT_NEAR(scores.at("last-window rate").headline, std::log(last) - last - 3 * silent, 1e-12);
}

TEST(TrivialModels, DevListsOfPublishedCodeTrainNothing) {
  data::ClientData client = two_users_tested_on_three();
  client.sequences.push_back(list(data::kValidation, {1, 4, 4}));  // they lie inside train and would count twice
  EXPECT_NEAR(by_name(client, data::kTest, {Protocol::kPublishedCode, false}).at("homogeneous").headline,
              3 * std::log1p(0.4) - 4, 1e-12);
}

TEST(TrivialModels, ElapsedHistogramEqualsADirectSum) {
  const data::ClientData client = chronological_client();
  const StepRate fitted = fit_histogram(client, 50, kChronological);
  const auto rate = [&](double elapsed) { return fitted.rate[std::min(49, static_cast<int>(elapsed / 12 * 50))]; };
  // The rates by their definition on [0, 12], h = 1.
  for (int bin : {0, 3, 4, 49}) {
    const double from = 0.24 * bin, to = from + 0.24;
    double count = 0, exposure = 0;
    for (const data::ClientSequence& s : client.sequences) {
      for (double t : s.events[data::kTrain]) count += t - s.origin >= from && t - s.origin < to ? 1 : 0;
      exposure += std::max(0.0, std::min(to, s.windows[data::kTrain][0].end - s.origin) - from);
    }
    EXPECT_NEAR(fitted.rate[bin], (count + 1) / (exposure + 1), 1e-12) << bin;
  }
  double reference = 0;
  for (const data::ClientSequence& s : client.sequences) {
    for (double t : s.events[data::kTest]) reference += std::log(rate(t - s.origin));
    const data::Interval w = s.windows[data::kTest][0];
    constexpr int kSteps = 200000;  // midpoint rule
    const double step = (w.end - w.start) / kSteps;
    for (int i = 0; i < kSteps; ++i) reference -= step * rate(w.start - s.origin + (i + 0.5) * step);
  }
  EXPECT_NEAR(by_name(client, data::kTest, kChronological).at("histogram, 50 bins").headline, reference, 1e-4);
}

data::ClientData lists_with_rate(double (*rate)(double), int lists, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  data::ClientData client;
  for (int i = 0; i < lists; ++i) {
    std::vector<double> times;
    for (double t = 0; (t -= std::log(uniform(random)) / 20) < 10;) {
      if (uniform(random) * 20 < rate(t)) times.push_back(t);
    }
    client.sequences.push_back(list(data::kTrain, times));
    client.sequences.back().fold = i % 5;
  }
  return client;
}

TEST(TrivialModels, FiveFoldChoosesAsManyBinsAsTheRateHasSteps) {
  EXPECT_EQ(choose_bins(lists_with_rate([](double) { return 3.0; }, 20, 1), kPopulation), 1);
  EXPECT_EQ(choose_bins(lists_with_rate([](double t) { return t < 5 ? 1.0 : 9.0; }, 20, 2), kPopulation), 2);
  EXPECT_EQ(choose_bins(lists_with_rate([](double t) { return std::fmod(t, 2) < 1 ? 1.0 : 19.0; }, 20, 3), kPopulation),
            10);
}

TEST(TrivialModels, FiveFoldWorksWithoutFoldsGivenAndWithOneList) {
  data::ClientData client = lists_with_rate([](double t) { return t < 5 ? 1.0 : 9.0; }, 20, 2);
  for (data::ClientSequence& s : client.sequences) s.fold = 0;
  EXPECT_EQ(choose_bins(client, kPopulation), 2);
  client.sequences.resize(1);
  EXPECT_EQ(choose_bins(client, kPopulation), 1);
}

TEST(TrivialModels, AClientWithoutTrainingTimeIsNamed) {
  data::ClientData client;
  client.id = 17;
  client.sequences = {list(data::kTest, {1})};
  try {
    trivial_scores(client, data::kTest, kPopulation);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("Client 17"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace fedpp::evaluation
