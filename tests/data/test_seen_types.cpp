#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/dataset.hpp"
#include "data/seen_types.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::planned;
using test::population;

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
