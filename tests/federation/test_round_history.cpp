// The history of a run's rounds is a JSON array of what was appended, before a checkpoint and after it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "federation/round_history.hpp"

using fedpp::federation::RoundHistory;
using nlohmann::json;

TEST(RoundHistory, IsEmptyAtFirst) { EXPECT_EQ(RoundHistory().entries(), json::array()); }

TEST(RoundHistory, HoldsEveryRoundInOrder) {
  const json first{{"round", 1}, {"validation", std::nan("")}}, second{{"round", 2}, {"left_out", {"a, \"b\""}}};
  RoundHistory rounds;
  rounds.append(first);
  EXPECT_EQ(rounds.entries(), json::array({{{"round", 1}, {"validation", nullptr}}}));
  rounds.append(second);
  EXPECT_EQ(rounds.entries()[1], second);
  EXPECT_EQ(rounds.text(), rounds.entries().dump());
}

TEST(RoundHistory, GoesOnFromACheckpoint) {
  RoundHistory before;
  before.append({{"round", 1}});
  RoundHistory after(before.text());
  after.append({{"round", 2}});
  EXPECT_EQ(after.entries(), json::parse(R"([{"round": 1}, {"round": 2}])"));
}

TEST(RoundHistory, GoesOnFromAnyTextOfAnArray) {
  for (const auto& [text, now] : {std::pair{"[ ]", R"([{"round":3}])"}, {"[1]\n", R"([1,{"round":3}])"}}) {
    RoundHistory rounds(text);
    rounds.append({{"round", 3}});
    EXPECT_EQ(rounds.text(), now);
  }
}

TEST(RoundHistory, IsAsBeforeWhereAnEntryIsNoText) {
  RoundHistory rounds;
  EXPECT_THROW(rounds.append({{"left_out", "\xff"}}), json::exception);
  EXPECT_EQ(rounds.text(), "[]");
}

TEST(RoundHistory, IsAnArray) {
  EXPECT_THROW(RoundHistory("{}"), std::invalid_argument);
  EXPECT_THROW(RoundHistory("[1"), std::invalid_argument);
  EXPECT_THROW(RoundHistory(std::string(200000, '[') + std::string(200000, ']')), std::invalid_argument);
}
