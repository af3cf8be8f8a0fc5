#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "evaluation/table.hpp"

namespace fedpp::evaluation {
namespace {

ScoreTable table(double ours) {
  ScoreTable t;
  t.protocol = Protocol::kPopulation;
  t.unit = "10^4 s";
  t.models = {{"fedpp", {{0, {ours, ours + 1, 10}}, {1, {40, 41, 30}}}},
              {"homogeneous", {{0, {9, 9, 10}}, {1, {35, 35, 30}}}},
              {"histogram, 50 bins", {{0, {10, 10, 10}}, {1, {38, 38, 30}}}}};
  return t;
}

TEST(Table, MarksTheWinnerAndSaysTheUnit) {
  const std::string text = to_text(table(20));
  EXPECT_NE(text.find("protocol population, unit of time: 10^4 s (40 events, 2 clients)"), std::string::npos) << text;
  EXPECT_NE(text.find("1.5000      1.5500                         <- best"), std::string::npos) << text;
}

TEST(Table, SaysWhereOursLoses) {
  const ScoreTable losing = table(5);
  EXPECT_EQ(winner(losing), 2u);
  const std::string text = to_text(losing);
  EXPECT_NE(text.find("1 of 2  <- best"), std::string::npos) << text;
}

/// As many clients as differences, ours from the one trivial model's.
ScoreTable table_of(const std::vector<double>& differences, const std::vector<double>& events) {
  ScoreTable t;
  t.models = {{"fedpp", {}}, {"homogeneous", {}}};
  for (std::size_t c = 0; c < events.size(); ++c) {
    const auto client = static_cast<std::int64_t>(c);
    t.models[0].clients.push_back({client, {-7 + differences[c], 0, events[c]}});
    t.models[1].clients.push_back({client, {-7, 0, events[c]}});
  }
  return t;
}

TEST(Verdict, SaysAboveTieOrBelowByStudentsQuantile) {
  // Per event 0.16, 0.2, 0.24: mean 0.2, sd 0.04.
  const auto above = verdict(table_of({1.6, 2, 2.4}, {10, 10, 10}));
  EXPECT_DOUBLE_EQ(above.paired.difference, 0.2);
  EXPECT_NEAR(above.paired.standard_error, 0.04 / std::sqrt(3.0), 1e-15);
  EXPECT_EQ(above.paired.outcome(), "above");
  EXPECT_EQ(above.text,
            "fedpp is above homogeneous, the best trivial model: +0.2000 per test event; chance alone gives up to "
            "0.0994 either way in 95 % of cases (3 clients).");
  EXPECT_EQ(verdict(table_of({-1.6, -2, -2.4}, {10, 10, 10})).paired.outcome(), "below");
  EXPECT_EQ(verdict(table_of({1, 2, 3}, {10, 10, 10})).paired.outcome(), "tie");  // beyond two standard errors
  const auto tie = verdict(table_of({-1, 2, 3}, {10, 10, 10}));
  EXPECT_EQ(tie.paired.outcome(), "tie");
  EXPECT_NE(tie.text.find("fedpp ties with homogeneous"), std::string::npos) << tie.text;
}

TEST(Verdict, ClientsThatHoldTheSameSequencesGiveNoStandardError) {
  ScoreTable t = table_of({1, 2, 3}, {10, 10, 10});
  t.shared = true;
  const auto v = verdict(t);
  EXPECT_DOUBLE_EQ(v.paired.difference, 0.2);
  EXPECT_TRUE(std::isnan(v.paired.standard_error));
  EXPECT_EQ(v.paired.outcome(), "none");
  EXPECT_NE(v.text.find("clients that may hold the same events give no standard error"), std::string::npos) << v.text;
  EXPECT_TRUE(to_json(t).at("shared").get<bool>());
}

TEST(Verdict, WeighsClientsAsTheHeadlineDoes) {
  // D = 6 / 40; without one client 5 / 30, without the other 1 / 10.
  const auto v = verdict(table_of({1, 5}, {10, 30}));
  EXPECT_DOUBLE_EQ(v.paired.difference, 0.15);
  EXPECT_NEAR(v.paired.standard_error, std::sqrt(0.5 * (std::pow(5.0 / 30 - 0.15, 2) + std::pow(0.1 - 0.15, 2))),
              1e-15);
  EXPECT_DOUBLE_EQ(v.paired.effective, 1600.0 / 1000);
}

TEST(Verdict, AClientWithMostOfTheEventsIsOneDraw) {
  // As a training gave them: all that speaks is the first client.
  const auto one = verdict(table_of({-1.689, .006, -.016, 0, -.018, -.08}, {307, 1, 5, 2, 5, 4}));
  EXPECT_NEAR(one.paired.effective, 1.112, 0.001);
  EXPECT_EQ(one.paired.outcome(), "tie") << one.text;
  EXPECT_NE(one.text.find("(6 clients, which count as 1.1 since some have many more events than others)"),
            std::string::npos)
      << one.text;
  // None has events but one: an observed window without any is a score, too.
  const auto all = verdict(table_of({1, 0.1, 0.2}, {10, 0, 0}));
  EXPECT_EQ(all.paired.outcome(), "none");
  EXPECT_NE(all.text.find("one client alone gives no standard error"), std::string::npos) << all.text;
}

/// Where the models do not differ, at most five of 100 verdicts say that they do: five where clients are of equal size,
/// hardly any where one has most of the events.
TEST(Verdict, IsWrongNoMoreOftenThanItSays) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const std::vector<double>& events :
       {std::vector<double>(6, 100.0), {300, 60, 30, 30, 10, 10}, {100, 50, 50, 20, 20, 10, 10, 5}})
    for (const bool of_client : {false, true}) {
      int beyond = 0;
      for (int trial = 0; trial < 2000; ++trial) {
        std::vector<double> differences;
        for (const double n : events) differences.push_back(normal(random) * (of_client ? n : std::sqrt(n)));
        beyond += verdict(table_of(differences, events)).paired.outcome() != "tie" ? 1 : 0;
      }
      if (events.front() == events.back()) {
        EXPECT_GE(beyond, 70);
      }
      EXPECT_LE(beyond, 130) << events.size() << " clients, the first of " << events[0];  // 100 and three of its sds
    }
}

TEST(Verdict, CountsNoClientWithoutAnythingToScore) {
  ScoreTable t = table_of({1, 2, 3}, {10, 10, 10});
  for (ModelScores& model : t.models) model.clients.push_back({3, {}});
  EXPECT_EQ(verdict(t).paired.clients, 3);
  EXPECT_DOUBLE_EQ(verdict(t).paired.standard_error, 0.1 / std::sqrt(3.0));
}

TEST(PairedDifference, IsBeyondChanceByStudentsQuantiles) {
  const auto bound = [](int clients) { return PairedDifference{0, 0, clients, 0, false, 1.0 * clients}.bound(); };
  // 97.5 % of Student's distributions with 1, 10, 29, 30, 60 and 120 degrees of freedom.
  for (const auto& [clients, quantile] :
       {std::pair{2, 12.706}, {11, 2.228}, {30, 2.045}, {31, 2.042}, {61, 2.000}, {121, 1.980}})
    EXPECT_NEAR(bound(clients), quantile, 0.002) << clients;
}

TEST(Verdict, SaysThatOneClientGivesNoError) {
  const auto v = verdict(table_of({1}, {10}));
  EXPECT_EQ(v.paired.outcome(), "none");
  EXPECT_TRUE(std::isnan(v.paired.standard_error));
  EXPECT_NE(v.text.find("scores 0.1000 more than homogeneous"), std::string::npos) << v.text;
  EXPECT_NE(v.text.find("one client alone gives no standard error"), std::string::npos) << v.text;
  EXPECT_TRUE(to_json(table_of({1}, {10}))["verdict"]["standard_error"].is_null());
}

TEST(PairedDifference, CountsTheClientsThatTheFirstScoresHigher) {
  const ScoreTable t = table_of({1, -5, 0, 2}, {10, 30, 10, 0});
  EXPECT_EQ(paired_difference(t.models[0].clients, t.models[1].clients).above, 2);
  EXPECT_EQ(paired_difference(t.models[1].clients, t.models[0].clients).above, 1);
}

TEST(PairedDifference, SaysNothingOfScoresThatAreNotFinite) {
  const ScoreTable t = table_of({1, -std::numeric_limits<double>::infinity()}, {10, 10});
  const auto paired = paired_difference(t.models[0].clients, t.models[1].clients);
  EXPECT_EQ(paired.outcome(), "none");
  EXPECT_EQ(sentence(paired, "b", "a"), "b and a: no finite difference of scores.");
}

TEST(Table, ANonFiniteScoreNeverWins) { EXPECT_EQ(winner(table(std::numeric_limits<double>::quiet_NaN())), 2u); }

TEST(Table, NamesNoWinnerWithoutFiniteScores) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(winner(table(kInfinity)), 2u);
  EXPECT_NE(to_text(table(kInfinity)).find("fedpp has no finite score"), std::string::npos);
  ScoreTable none = table(kInfinity);
  for (ModelScores& model : none.models) model.clients[0].score.headline = kInfinity;
  EXPECT_EQ(winner(none), std::nullopt);
  EXPECT_EQ(to_text(none).find("best"), std::string::npos) << to_text(none);
  EXPECT_TRUE(to_json(none)["winner"].is_null());
  ScoreTable alone = table(20);
  for (std::size_t m = 1; m < alone.models.size(); ++m) alone.models[m].clients[0].score.headline = -kInfinity;
  EXPECT_NE(to_text(alone).find("No trivial model has a finite score"), std::string::npos);
}

TEST(Table, WithoutSomeClientsIsTheTableOfTheOthers) {
  const ScoreTable others = without(table(20), {0});
  for (std::size_t m = 0; m < others.models.size(); ++m) {
    ASSERT_EQ(others.models[m].clients.size(), 1u);
    EXPECT_EQ(others.models[m].clients[0].client, 1);
  }
  EXPECT_NE(to_text(others).find("(30 events, 1 client)"), std::string::npos) << to_text(others);
}

TEST(Table, ClientsLeftOutCountForNoModel) {
  ScoreTable t = table(std::numeric_limits<double>::quiet_NaN());
  leave_out(t, {0});
  const nlohmann::json j = to_json(t);
  EXPECT_DOUBLE_EQ(j["events"], 30);
  for (std::size_t m = 0; m < t.models.size(); ++m) {
    EXPECT_DOUBLE_EQ(j["models"][m]["headline"], t.models[m].clients[1].score.headline / 30);
    for (const char* score : {"headline", "plug_in", "log_likelihood"})
      EXPECT_TRUE(j["models"][m]["per_client"][0][score].is_null()) << score;
  }
}

TEST(Table, JsonHoldsScoresPerEvent) {
  ScoreTable t = table(20);
  for (ModelScores& model : t.models) model.clients.push_back({2, {-1, -1, 0}});  // no test events
  const nlohmann::json j = to_json(t);
  EXPECT_EQ(j["protocol"], "population");
  EXPECT_EQ(j["unit"], "10^4 s");
  EXPECT_EQ(j["winner"], "fedpp");
  EXPECT_EQ(j["verdict"]["rival"], "histogram, 50 bins");
  EXPECT_NEAR(j["verdict"]["difference"], 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(j["events"], 40);
  EXPECT_DOUBLE_EQ(j["models"][0]["headline"], 59.0 / 40);
  EXPECT_DOUBLE_EQ(j["models"][0]["per_client"][2]["log_likelihood"], -1);
  EXPECT_DOUBLE_EQ(j["models"][0]["per_client"][1]["plug_in"], 41.0 / 30);
  EXPECT_EQ(j["models"][1]["per_client"][0]["client"], 0);
  EXPECT_TRUE(j["models"][1]["per_client"][2]["headline"].is_null());
}

}  // namespace
}  // namespace fedpp::evaluation
