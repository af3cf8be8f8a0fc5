#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/dataset.hpp"
#include "data/seen_types.hpp"
#include "data/summary.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::planned;
using test::population;
namespace config = fedpp::config;

TEST(Plan, SaysOfAPlaceWhatItListsOfAClient) {
  const Folder folder;
  auto options = population(folder);
  options.leave_out_types = {1};
  for (const auto partition : {config::Partition::kHeterogeneous, config::Partition::kHomogeneous})
    for (std::int64_t per_client = 1; per_client <= 5; ++per_client) {
      options.partition = partition;
      options.types_per_client = per_client;
      const Plan plan = planned(options);
      EXPECT_EQ(plan.place_of(1), -1);
      std::set<int> seen;
      for (std::int64_t c = 0; c < plan.clients(); ++c) {
        const auto types = plan.types_of(c);
        seen.insert(types.begin(), types.end());
        for (int type = 0; type < 7; ++type)
          EXPECT_EQ(plan.sees(c, plan.place_of(type)), std::count(types.begin(), types.end(), type) == 1);
      }
      EXPECT_EQ(unseen_types(plan).types, 4 - static_cast<std::int64_t>(seen.size()));
    }
}

/// A million of them for each of a thousand clients would not fit.
TEST(Plan, ClientsThatSeeAllTypesShareOneList) {
  const Folder folder;
  auto options = population(folder);
  options.partition = config::Partition::kHomogeneous;
  const auto clients = test::load_all(planned(options));
  EXPECT_EQ(&*clients.front().types.begin(), &*clients.back().types.begin());
  EXPECT_EQ(&*summarise(clients.front()).types.begin(), &*clients.back().types.begin());
}

TEST(Plan, CountsTypesThatNoClientSees) {
  const Folder folder;
  auto options = population(folder);  // five types, seven clients of two
  EXPECT_EQ(unseen_types(planned(options)).types, 0);
  EXPECT_EQ(to_text(unseen_types(planned(options))), "");
  options.clients = 2;
  const Plan plan = planned(options);
  const auto unseen = unseen_types(plan);
  EXPECT_EQ(unseen.types, 1);
  std::int64_t events = 0;
  for (const auto& entry : plan.catalogue)
    if (entry.type == 4) events += entry.events;
  EXPECT_EQ(unseen.events, events);
  EXPECT_NE(to_text(unseen).find(fmt::format("types of events that no client sees: 1, with {} events", events)),
            std::string::npos);
}
