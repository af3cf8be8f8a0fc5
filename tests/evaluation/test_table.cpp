#include <gtest/gtest.h>

#include <limits>

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
  EXPECT_NE(text.find("fedpp is above every trivial model (by 0.3000 over histogram, 50 bins)"), std::string::npos)
      << text;
}

TEST(Table, SaysWhereOursLoses) {
  const ScoreTable losing = table(5);
  EXPECT_EQ(winner(losing), 2u);
  const std::string text = to_text(losing);
  EXPECT_NE(text.find("1 of 2  <- best"), std::string::npos) << text;
  EXPECT_NE(text.find("fedpp is below histogram, 50 bins by 0.0750"), std::string::npos) << text;
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

TEST(Table, ClientsLeftOutCountForNoModel) {
  ScoreTable t = table(std::numeric_limits<double>::quiet_NaN());
  leave_out(t, {0});
  const nlohmann::json j = to_json(t);
  EXPECT_DOUBLE_EQ(j["events"], 30);
  for (std::size_t m = 0; m < t.models.size(); ++m) {
    EXPECT_DOUBLE_EQ(j["models"][m]["headline"], t.models[m].clients[1].score.headline / 30);
    EXPECT_TRUE(j["models"][m]["per_client"][0]["headline"].is_null());
  }
}

TEST(Table, JsonHoldsScoresPerEvent) {
  ScoreTable t = table(20);
  for (ModelScores& model : t.models) model.clients.push_back({2, {-1, -1, 0}});  // no test events
  const nlohmann::json j = to_json(t);
  EXPECT_EQ(j["protocol"], "population");
  EXPECT_EQ(j["unit"], "10^4 s");
  EXPECT_EQ(j["winner"], "fedpp");
  EXPECT_DOUBLE_EQ(j["events"], 40);
  EXPECT_DOUBLE_EQ(j["models"][0]["headline"], 59.0 / 40);
  EXPECT_DOUBLE_EQ(j["models"][0]["per_client"][1]["plug_in"], 41.0 / 30);
  EXPECT_EQ(j["models"][1]["per_client"][0]["client"], 0);
  EXPECT_TRUE(j["models"][1]["per_client"][2]["headline"].is_null());
}

}  // namespace
}  // namespace fedpp::evaluation
