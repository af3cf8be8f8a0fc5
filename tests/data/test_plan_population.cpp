#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/source_reader.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::lists_csv;
using test::load_all;
using test::load_client;
using test::planned;
using test::population;
namespace config = fedpp::config;

TEST(PlanPopulation, ListsOfATypeAreDealtDisjointlyAmongItsHolders) {
  const Folder folder;
  const Plan plan = planned(population(folder));
  EXPECT_EQ(plan.types_of(0), (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.types_of(2), (std::vector<int>{4, 0}));
  EXPECT_EQ(plan.types_of(3), (std::vector<int>{1, 2}));
  std::map<int, std::map<std::int64_t, int>> shares;  // [type][client]
  std::set<std::uint32_t> held;
  for (std::int64_t c = 0; c < plan.clients(); ++c) {
    const auto types = plan.types_of(c);
    for (std::uint32_t entry : plan.holdings[c]) {
      EXPECT_TRUE(held.insert(entry).second) << "held twice";
      const int type = plan.catalogue[entry].type;
      EXPECT_NE(std::find(types.begin(), types.end(), type), types.end());
      if (plan.sources[plan.catalogue[entry].source].role == kTrain) ++shares[type][c];
    }
  }
  EXPECT_EQ(held.size(), plan.catalogue.size());
  for (int type = 0; type < 5; ++type) {
    std::vector<int> counts;
    for (std::int64_t c = 0; c < plan.clients(); ++c) {
      const auto types = plan.types_of(c);
      if (std::find(types.begin(), types.end(), type) != types.end()) counts.push_back(shares[type][c]);
    }
    EXPECT_LE(*std::max_element(counts.begin(), counts.end()) - *std::min_element(counts.begin(), counts.end()), 1);
  }
}

TEST(PlanPopulation, SeedChangesTheDealing) {
  const Folder folder;
  const auto options = population(folder);
  EXPECT_EQ(planned(options, 1).holdings, planned(options, 1).holdings);
  EXPECT_NE(planned(options, 1).holdings, planned(options, 2).holdings);
}

TEST(PlanPopulation, UndealtClientsOfEqualTypesAreCopies) {
  const Folder folder;
  auto options = population(folder);
  options.deal = false;
  const Plan plan = planned(options);
  EXPECT_EQ(plan.types_of(0), plan.types_of(5));
  EXPECT_EQ(plan.holdings[0], plan.holdings[5]);
  EXPECT_EQ(plan.holdings[0].size(), 2 * (60u + 20u));
  EXPECT_TRUE(plan.shared());
  options.clients = 2;  // which see types 0, 1 and 2, 3
  EXPECT_FALSE(planned(options).shared());
  options.clients = 5;  // a type each
  options.types_per_client = 1;
  EXPECT_FALSE(planned(options).shared());
  options.clients = 6;
  EXPECT_TRUE(planned(options).shared());
  EXPECT_FALSE(planned(population(folder)).shared());
}

TEST(PlanPopulation, CommonWindowAndFolds) {
  const Folder folder;
  const auto options = population(folder);
  const Plan plan = planned(options);
  double start = 1e300, end = -1e300;
  read_source({options.train[0], "", kTrain}, options, [&](RawSequence& raw) {
    start = std::min(start, raw.times.front());
    end = std::max(end, raw.times.back());
  });
  EXPECT_EQ(plan.window.start, start);
  EXPECT_EQ(plan.window.end, end);
  EXPECT_FALSE(plan.clock.elapsed);
  EXPECT_EQ(plan.clock.origin, start);
  EXPECT_DOUBLE_EQ(plan.clock.scale, 100 / (end - start));
  for (const ClientData& client : load_all(plan)) {
    std::vector<int> folds(5, 0);
    int test_lists = 0;
    for (const ClientSequence& s : client.sequences) {
      const bool test = !s.windows[kTest].empty();
      const bool validation = !s.windows[kValidation].empty(), train = !s.windows[kTrain].empty();
      EXPECT_EQ(test + validation + train, 1);
      test_lists += test;
      EXPECT_EQ(test, s.fold == -1);
      EXPECT_EQ(validation, s.fold == 0);
      if (!test) ++folds.at(s.fold);
      const Split split = test ? kTest : validation ? kValidation : kTrain;
      EXPECT_EQ(s.windows[split][0].start, start);
      EXPECT_EQ(s.windows[split][0].end, end);
      for (double t : s.events[split]) EXPECT_TRUE(start <= t && t <= end);
    }
    EXPECT_GT(test_lists, 0);
    EXPECT_LE(*std::max_element(folds.begin(), folds.end()) - *std::min_element(folds.begin(), folds.end()), 1);
  }
}

TEST(PlanPopulation, LocalFractionKeepsTestLists) {
  const Folder folder;
  auto options = population(folder);
  const auto whole = load_all(planned(options));
  int up = 0, down = 0;  // clients whose number is rounded
  for (const double fraction : {0.1, 0.37}) {
    options.local_fraction = fraction;
    const auto part = load_all(planned(options));
    for (std::size_t c = 0; c < whole.size(); ++c) {
      auto train = [](const ClientData& d) {
        return std::count_if(d.sequences.begin(), d.sequences.end(), [](const auto& s) { return s.fold >= 0; });
      };
      const double share = fraction * static_cast<double>(train(whole[c]));
      EXPECT_EQ(train(part[c]), std::max(1L, std::lround(share)));
      EXPECT_EQ(part[c].sequences.size() - train(part[c]), whole[c].sequences.size() - train(whole[c]));
      (static_cast<double>(train(part[c])) > share ? up : down) += 1;
    }
  }
  EXPECT_GT(up, 0);
  EXPECT_GT(down, 0);
  options.local_fraction = 1e-6;
  for (const ClientData& client : load_all(planned(options)))
    for (const ClientSequence& s : client.sequences)
      EXPECT_TRUE(s.windows[kValidation].empty());  // a single list only trains
}

TEST(PlanPopulation, FoldsAndKeptListsFollowTheSeedAlone) {
  const Folder folder;
  auto options = population(folder);
  options.deal = false;  // so that only folds and kept lists depend on the seed
  auto folds = [&](std::uint64_t seed, double fraction) {
    options.local_fraction = fraction;
    std::vector<std::pair<std::int64_t, int>> found;
    for (const ClientSequence& s : load_client(planned(options, seed), 0).sequences) found.emplace_back(s.id, s.fold);
    return found;
  };
  EXPECT_EQ(folds(1, 1), folds(1, 1));
  EXPECT_NE(folds(1, 1), folds(2, 1));
  auto ids = [&](std::uint64_t seed) {
    std::vector<std::int64_t> kept;
    for (auto [id, fold] : folds(seed, 0.2)) kept.push_back(id);
    return kept;
  };
  EXPECT_EQ(ids(1), ids(1));
  EXPECT_NE(ids(1), ids(2));
}

TEST(PlanPopulation, DroppedEventsLeaveExposedLists) {
  const Folder folder;
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.partition = config::Partition::kHomogeneous;
  options.clients = 1;
  options.drop = true;
  options.drop_before = 10;
  options.train = {
      folder.write("train.csv", "sequence,time,type\n0,9,0\n0,10,0\n0,12,0\n1,1,0\n1,2,0\n2,11,0\n2,20,0\n")};
  options.test = {folder.write("test.csv", "sequence,time,type\n0,1,0\n1,15,0\n1,30,0\n")};
  const Plan plan = planned(options);
  EXPECT_EQ(plan.window.start, 0);  // an event at the origin itself stays
  EXPECT_EQ(plan.window.end, 10);
  const ClientData client = load_client(plan, 0);
  ASSERT_EQ(client.sequences.size(), 5u);
  EXPECT_TRUE(client.sequences[1].events[kTrain].empty() && client.sequences[1].events[kValidation].empty());
  EXPECT_EQ(client.sequences[3].windows[kTest].size(), 1u);
  EXPECT_EQ(client.sequences[4].events[kTest], (std::vector<double>{5}));
  EXPECT_EQ(client.left_out.outside, 5);
}

TEST(PlanPopulation, DropBeforeIsNamedWhereItLeavesNoEvent) {
  const Folder folder;
  auto options = population(folder);
  options.drop = true;
  options.drop_before = 1e9;
  try {
    planned(options);
    FAIL() << "no error";
  } catch (const fedpp::UserError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("data.drop_before = 1000000000: no event comes then or later"))
        << error.what();
  }
}

TEST(PlanPopulation, LeaveOutTypesRenumbersTheWheel) {
  const Folder folder;
  auto options = population(folder);
  options.leave_out_types = {0, 3};
  const Plan plan = planned(options);
  EXPECT_EQ(plan.kept_types, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(plan.types_of(1), (std::vector<int>{4, 1}));
  EXPECT_EQ(plan.catalogue.size(), 3 * (60u + 20u));
}

TEST(PlanPopulation, WindowsTableGivesExposureAndSilentSequences) {
  const Folder folder;
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.clients = 2;
  options.partition = config::Partition::kHeterogeneous;
  options.types_per_client = 1;
  options.deal = false;
  options.train = {folder.write("train.csv", "sequence,time,type\n0,1,0\n0,2,1\n1,3,0\n1,4,1\n")};
  options.test = {folder.write("test.csv", "sequence,time,type\n0,5,0\n0,26,1\n")};
  options.windows = {folder.write("w.csv", "sequence,start,end\n0,0,10\n0,12,24\n1,0,24\n2,0,24\n"),
                     folder.write("v.csv", "sequence,start,end\n0,0,30\n")};
  const Plan plan = planned(options);
  EXPECT_EQ(plan.window.start, 0);
  EXPECT_EQ(plan.window.end, 24);
  const auto clients = load_all(plan);
  ASSERT_EQ(clients[1].sequences.size(), 4u);
  const auto& silent = clients[1].sequences[2];
  EXPECT_EQ(silent.id, 2);
  EXPECT_TRUE(silent.times.empty());
  EXPECT_EQ(silent.windows[kTrain].size() + silent.windows[kValidation].size(), 1u);
  const auto& gap = clients[0].sequences[0];
  EXPECT_EQ(gap.windows[kTrain].size() + gap.windows[kValidation].size(), 2u);
  const auto& test = clients[1].sequences[3];
  EXPECT_TRUE(test.events[kTest].empty());  // 26 is outside the hull of the training windows
  EXPECT_EQ(test.windows[kTest][0].end, 24);
}

TEST(PlanPublishedCode, NothingIsDealtAndDevFilesValidate) {
  const Folder folder;
  auto options = population(folder);
  options.protocol = config::Protocol::kPublishedCode;
  options.validation = {folder.write("dev.csv", lists_csv(5, 8, 3))};
  const Plan plan = planned(options);
  EXPECT_EQ(plan.holdings[0].size(), 2 * (60u + 8u + 20u));
  const ClientData client = load_client(plan, 0);
  int counts[3] = {0, 0, 0};
  for (const ClientSequence& s : client.sequences)
    for (int split = 0; split < 3; ++split) counts[split] += !s.windows[split].empty();
  EXPECT_EQ(counts[kTrain], 120);
  EXPECT_EQ(counts[kValidation], 16);
  EXPECT_EQ(counts[kTest], 40);
}
