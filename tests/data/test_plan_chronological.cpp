#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.hpp"
#include "data/source_reader.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_all;
using test::planned;
using test::whole_csv;
namespace config = fedpp::config;

TEST(PlanChronological, WholeSequencesGoRoundAllClients) {
  const Folder folder;
  config::Data options;
  options.train = {folder.write("a.csv", whole_csv(6, 41, 60, 1))};
  options.test = {folder.write("b.csv", whole_csv(6, 22, 60, 2))};
  options.clients = 4;
  options.partition = config::Partition::kHeterogeneous;
  options.types_per_client = 3;
  const Plan plan = planned(options);
  std::set<std::uint32_t> held;
  for (const auto& own : plan.holdings) {
    EXPECT_TRUE(own.size() == 63 / 4 || own.size() == 63 / 4 + 1);
    held.insert(own.begin(), own.end());
  }
  EXPECT_EQ(held.size(), 63u);
  EXPECT_TRUE(plan.clock.elapsed);

  // Everything that the clients see, again from the files by plain loops.
  double longest = 0;
  std::vector<RawSequence> raws;
  for (const auto& path : {options.train[0], options.test[0]})
    read_source({path, "", kTrain}, options, [&](RawSequence& raw) {
      longest = std::max(longest, raw.times.back() - raw.times.front());
      raws.push_back(raw);
    });
  EXPECT_DOUBLE_EQ(plan.clock.scale, 100 / longest);
  for (const ClientData& client : load_all(plan)) {
    std::size_t next = 0;
    for (std::uint32_t entry : plan.holdings[client.id]) {
      std::vector<double> seen;
      for (std::size_t i = 0; i < raws[entry].times.size(); ++i)
        if (std::count(client.types.begin(), client.types.end(), raws[entry].types[i]))
          seen.push_back(raws[entry].times[i]);
      if (seen.size() < 10) continue;  // 9 counted events are the fewest with 5 for training
      ASSERT_LT(next, client.sequences.size());
      const ClientSequence& s = client.sequences[next++];
      EXPECT_EQ(s.times, seen);
      EXPECT_EQ(s.source, entry < 41 ? 0 : 1);
      EXPECT_EQ(s.events[kTrain].size() + s.events[kValidation].size() + s.events[kTest].size(), seen.size() - 1);
    }
    EXPECT_EQ(next, client.sequences.size());
    EXPECT_EQ(client.left_out.sequences, static_cast<std::int64_t>(plan.holdings[client.id].size() - next));
  }
}

TEST(PlanChronological, MaxSequencesOfEachFile) {
  const Folder folder;
  config::Data options;
  options.train = {folder.write("a.csv", whole_csv(2, 10, 30, 1)), folder.write("b.csv", whole_csv(2, 3, 30, 2))};
  options.clients = 2;
  options.max_sequences = 4;
  EXPECT_EQ(planned(options).catalogue.size(), 4u + 3u);
}

TEST(PlanChronological, CalendarClock) {
  const Folder folder;
  config::Data options;
  options.train = {folder.write("a.csv", whole_csv(2, 10, 30, 1))};
  options.clients = 2;
  options.clock = config::Clock::kCalendar;
  const Plan plan = planned(options);
  EXPECT_FALSE(plan.clock.elapsed);
  EXPECT_EQ(plan.clock.origin, plan.window.start);
}

TEST(PlanContent, tells_files_apart_in_which_one_thing_differs) {
  const Folder folder;
  const auto content = [&](const std::string& events, const std::string& windows) {
    config::Data options;
    options.train = {folder.write("events.csv", "sequence,time,type\n" + events)};
    options.windows = {folder.write("windows.csv", "sequence,start,end\n" + windows)};
    options.clients = 2;
    options.partition = config::Partition::kHomogeneous;
    return test::made_plan(options).content;
  };
  const std::string events = "0,1,0\n0,2,1\n0,3,0\n1,4,1\n1,5,1\n1,6,0\n", windows = "0,0,9\n1,0,9\n2,0,9\n";
  std::set<std::uint64_t> contents{content(events, windows)};
  EXPECT_TRUE(contents.contains(content(events, windows))) << "the same files";
  for (const auto& [other, other_windows] : std::vector<std::pair<std::string, std::string>>{
           {"0,1,0\n0,2,1\n0,3,0\n1,4,1\n1,5,1\n1,6,1\n", windows},    // a type
           {"0,1,0\n0,2,1\n0,3.5,0\n1,4,1\n1,5,1\n1,6,0\n", windows},  // a time
           {"0,1,0\n0,2,1\n0,3,0\n1,4,1\n1,5,1\n", windows},           // an event less
           {"0,1,0\n0,2,1\n0,3,0\n1,4,1\n1,5,1\n1,6,0\n1,6,0\n", windows},
           {events, "0,0,9\n1,0,8\n2,0,9\n"},  // a window
           {events, "0,0,9\n1,0,9\n"}})        // a sequence without events less
    EXPECT_TRUE(contents.insert(content(other, other_windows)).second) << other << other_windows;
}
