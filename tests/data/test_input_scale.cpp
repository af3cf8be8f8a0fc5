// A trained federation's scale of inputs on other data.
#include <gtest/gtest.h>

#include <numeric>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/input_scale.hpp"
#include "data/realisation.hpp"
#include "files.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_client;
namespace config = fedpp::config;

namespace {

/// One client with one sequence of `events` events at start, start + step, ..., of the types 0 .. types - 1 in turn.
Plan plan_of(const Folder& folder, double start, double step, int events, int types, config::Clock clock) {
  std::string text = "sequence,time,type\n";
  for (int i = 0; i < events; ++i)
    text += "0," + std::to_string(start + step * i) + "," + std::to_string(i % types) + "\n";
  config::Data options;
  options.train = {folder.write("events.csv", text)};
  options.clients = 1;
  options.partition = config::Partition::kHomogeneous;
  options.clock = clock;
  Plan plan = test::made_plan(options);
  const std::int64_t all[] = {0};
  finish_plan(plan, local_extents(plan, all));
  return plan;
}

constexpr Clock kElapsed{true, 0, 2, 100}, kCalendar{false, 1000, 2, 100};

TEST(InputScale, model_time_of_other_data_is_that_of_the_trained_clock) {
  const Folder folder;
  Plan plan = plan_of(folder, 500, 10, 11, 1, config::Clock::kElapsed);  // 100 file units: its own scale would be 1
  adopt(plan, {kElapsed, {}, 1, {}}, false);
  const ClientData client = load_client(plan, 0);
  const auto r = training_realisations(client, realisation_rules(plan, {}));
  EXPECT_DOUBLE_EQ(to_model(plan.clock, client.sequences[0], 600), 200);
  EXPECT_DOUBLE_EQ(r[0].events.front(), 20);  // the first event is where the clock starts

  Plan later = plan_of(folder, 1100, 10, 11, 1, config::Clock::kCalendar);
  adopt(later, {kCalendar, {}, 1, {}}, false);
  const ClientData other = load_client(later, 0);
  EXPECT_DOUBLE_EQ(to_model(later.clock, other.sequences[0], 1100), 200);
  EXPECT_DOUBLE_EQ(later.window.start, 1100);  // what is observed stays the data's own
}

TEST(InputScale, types_keep_their_names_where_they_are_embedded) {
  Plan plan;
  plan.type_names = {"x", "y"};
  plan.extents.types = 2;
  InputScale trained{plan.clock, {}, 3, {"x", "z", "y"}};
  EXPECT_USER_ERROR(adopt(plan, trained, true), "type 1 is 'y' in the data, but 'z'", "--like");
  adopt(plan, trained, false);
  using Names = std::vector<std::string>;
  for (const Names& names : {Names{}, Names{"x"}, Names{"x", "y", "z"}}) {
    trained.type_names = names;
    adopt(plan, trained, true);
  }
}

TEST(InputScale, what_cannot_be_on_it_is_refused_with_key_and_remedy) {
  const Folder folder;
  Plan plan = plan_of(folder, 0, 10, 12, 4, config::Clock::kElapsed);
  EXPECT_USER_ERROR(adopt(plan, {kCalendar, {}, 4, {}}, false), "data.clock = 'elapsed'", "data.clock = \"calendar\"");
  Clock longer = kElapsed;
  longer.window = 50;
  EXPECT_USER_ERROR(adopt(plan, {longer, {}, 4, {}}, false), "model.window = 100", "model.window = 50");
  EXPECT_USER_ERROR(adopt(plan, {kElapsed, {}, 3, {}}, true), "event type 3", "types 0 to 2", "data.leave_out_types");
  EXPECT_NO_THROW(adopt(plan, {kElapsed, {}, 3, {}}, false));  // types are not embedded
  EXPECT_NO_THROW(adopt(plan, {kElapsed, {}, 9, {}}, true));
}

}  // namespace
