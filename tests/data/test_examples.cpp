// The sample that ships: its counts are those that its README states, and every client has data; the paper's deck on it.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "config/read.hpp"
#include "data/dataset.hpp"
#include "data/realisation.hpp"
#include "data/summary.hpp"
#include "examples.hpp"

using namespace fedpp::data;

TEST(Example, NycTaxi) {
  const auto config = fedpp::config::read(std::string(kExamples) + "/nyc-taxi/train.toml").config;
  Plan plan = make_plan(config.data, config.model.window, 1);
  finish_plan(plan, local_extents(plan, {}));
  EXPECT_EQ(plan.window.start, 0);
  EXPECT_EQ(plan.window.end, 24);
  std::vector<std::int64_t> owned(20);
  std::iota(owned.begin(), owned.end(), 0);
  std::int64_t learned = 0, tested = 0;
  for (const ClientData& client : load_clients(plan, owned)) {
    EXPECT_EQ(client.types, std::vector<int>{static_cast<int>(client.id)});
    const ClientSummary summary = summarise(client);
    EXPECT_EQ(summary.sequences[kTrain] + summary.sequences[kValidation], 23);
    EXPECT_EQ(summary.sequences[kTest], 8);
    EXPECT_GT(summary.events[kTest], 20);
    EXPECT_EQ(summary.left_out.outside, 0);
    learned += summary.events[kTrain] + summary.events[kValidation];
    tested += summary.events[kTest];
    const auto whole = final_realisations(client, realisation_rules(plan, config.model));
    EXPECT_NEAR(std::accumulate(whole[0].node_weights.begin(), whole[0].node_weights.end(), 0.0), 23 * 100.0, 1e-8);
  }
  EXPECT_EQ(learned, 4633);
  EXPECT_EQ(tested, 1773);
}

TEST(Example, FedppPaper) {
  const auto config = fedpp::config::read(std::string(kExamples) + "/fedpp-paper/train.toml").config;
  Plan plan = make_plan(config.data, config.model.window, 1);
  finish_plan(plan, local_extents(plan, {}));
  std::int64_t learned = 0, tested = 0;
  for (const ClientData& client : load_clients(plan, std::vector<std::int64_t>{0, 1, 2, 3, 4})) {
    const int first = 4 * static_cast<int>(client.id);
    EXPECT_EQ(client.types, (std::vector<int>{first, first + 1, first + 2, first + 3}));
    const ClientSummary summary = summarise(client);
    learned += summary.events[kTrain] + summary.events[kValidation];
    tested += summary.events[kTest];
  }
  EXPECT_EQ(learned, 4633);
  EXPECT_EQ(tested, 1773);
}
