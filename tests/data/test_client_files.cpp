#include <gtest/gtest.h>

#include <algorithm>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/seen_types.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::lists_csv;
using test::load_all;
using test::load_client;
using test::planned;
using test::whole_csv;
namespace config = fedpp::config;

TEST(ClientFiles, OnlyOwnFilesAreOpenedAndExtentsReduce) {
  const Folder folder;
  config::Data options;
  options.client_files = (folder.path / "site-{client}.csv").string();
  options.clients = 3;
  folder.write("site-0.csv", whole_csv(2, 3, 40, 1));
  folder.write("site-2.csv", whole_csv(3, 5, 50, 2));
  // There is no site-1.csv: a rank that does not own client 1 must not miss it.
  Plan plan = test::made_plan(options);
  const std::int64_t first[] = {0}, last[] = {2};
  const LocalExtents a = local_extents(plan, first), b = local_extents(plan, last);
  const LocalExtents both{std::min(a.start, b.start), std::max(a.end, b.end), std::max(a.longest, b.longest),
                          std::max(a.types, b.types)};
  EXPECT_EQ(both.longest, std::max(a.longest, b.longest));
  EXPECT_EQ(both.types, 3);
  finish_plan(plan, both);
  EXPECT_DOUBLE_EQ(plan.clock.scale, 100 / both.longest);
  EXPECT_EQ(unseen_types(plan).types, 0);
  EXPECT_EQ(load_client(plan, 0).sequences.size(), 3u);
  EXPECT_EQ(load_client(plan, 2).sequences.size(), 5u);
  EXPECT_USER_ERROR(load_client(plan, 1), "site-1.csv");
}

TEST(ClientFiles, PopulationWithTestPattern) {
  const Folder folder;
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.client_files = (folder.path / "site-{client}.csv").string();
  options.clients = 2;
  for (int c = 0; c < 2; ++c) {
    folder.write("site-" + std::to_string(c) + ".csv", lists_csv(1, 20, 1 + c));
    folder.write("test-" + std::to_string(c) + ".csv", lists_csv(1, 5, 5 + c));
  }
  options.test = {(folder.path / "test-{client}.csv").string()};
  const Plan plan = planned(options);
  for (const ClientData& client : load_all(plan)) EXPECT_EQ(client.sequences.size(), 25u);
}
