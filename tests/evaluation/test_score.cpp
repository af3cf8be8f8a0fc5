#include <gtest/gtest.h>

#include <cmath>

#include "config/error.hpp"
#include "evaluation/score.hpp"

namespace fedpp::evaluation {
namespace {

data::Realisation three_events() {
  data::Realisation r;
  r.events = {1, 2, 5};
  r.multiplicities = {1, 3, 1};
  r.log_offsets = {0, 0, 0};
  r.nodes = {2, 8};
  r.node_weights = {5, 5};
  r.span = {0, 10};
  return r;
}

TEST(Score, ConstantIntensityHasItsClosedForm) {
  const data::Realisation r = three_events();
  const double rate = 0.7;
  const std::vector<double> log_rate(3, std::log(rate)), rates(2, rate);
  const Score s = score(r, {log_rate, log_rate, rates});
  EXPECT_DOUBLE_EQ(s.events, 5);
  EXPECT_NEAR(s.headline, 5 * std::log(rate) - 10 * rate, 1e-12);
  EXPECT_DOUBLE_EQ(s.headline, s.plug_in);
}

TEST(Score, HeadlineAndPlugInUseTheirOwnExpectation) {
  const data::Realisation r = three_events();
  const std::vector<double> expected_log{0.1, 0.2, 0.3}, log_expected{0.4, 0.6, 0.8}, nodes{0.5, 0.25};
  const Score s = score(r, {expected_log, log_expected, nodes});
  EXPECT_NEAR(s.headline, 0.1 + 3 * 0.2 + 0.3 - 3.75, 1e-12);
  EXPECT_NEAR(s.plug_in, 0.4 + 3 * 0.6 + 0.8 - 3.75, 1e-12);
}

TEST(Score, TheUnitOfTimeShiftsEveryEventByTheSame) {
  data::Realisation r = three_events();
  const std::vector<double> logs{0.1, 0.2, 0.3}, nodes{0.5, 0.25};
  const double before = score(r, {logs, logs, nodes}).headline_per_event();
  for (double& offset : r.log_offsets) offset = std::log(4.0);  // a file unit is four model units
  EXPECT_NEAR(score(r, {logs, logs, nodes}).headline_per_event() - before, std::log(4.0), 1e-12);
}

TEST(Score, PublishedCodeTakesLog1pInFileUnits) {
  data::Realisation r = three_events();
  for (double& offset : r.log_offsets) offset = std::log(4.0);
  const std::vector<double> events{1, 2, 3}, nodes{0.5, 0.25};
  const Score s = published_code_score(r, events, nodes);
  EXPECT_NEAR(s.headline, std::log(5) + 3 * std::log(9) + std::log(13) - 3.75, 1e-12);
  EXPECT_DOUBLE_EQ(s.plug_in, s.headline);
  EXPECT_DOUBLE_EQ(s.events, 5);
}

TEST(Score, WindowsWithoutEventsCostTheirIntegral) {
  data::Realisation r;
  r.nodes = {1};
  r.node_weights = {2};
  const Score s = score(r, {{}, {}, std::vector<double>{3}});
  EXPECT_DOUBLE_EQ(s.headline, -6);
  EXPECT_DOUBLE_EQ(s.events, 0);
}

TEST(Score, TotalsAddSumsAndNotMeansInTheOrderOfClients) {
  const std::vector<ClientScore> clients{{2, {1, 1, 10}}, {0, {1e16, 2, 1}}, {1, {-1e16, 3, 4}}};
  const std::vector<ClientScore> other_order{clients[1], clients[2], clients[0]};
  EXPECT_EQ(total(clients).headline, 1);
  EXPECT_EQ(total(other_order).headline, 1);
  EXPECT_DOUBLE_EQ(total(clients).plug_in_per_event(), 6.0 / 15);
}

}  // namespace
}  // namespace fedpp::evaluation
