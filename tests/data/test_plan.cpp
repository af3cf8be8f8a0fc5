#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/random.hpp"
#include "data/seen_types.hpp"
#include "data/source_reader.hpp"
#include "files.hpp"
#include "io/sequence_file.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::all_clients;
using test::load_all;
using test::load_client;
using test::planned;
namespace config = fedpp::config;

namespace {

/// Lists of one type each: `lists` of each of `types` types, list l with 4 + l % 7 events.
std::string lists_csv(int types, int lists, std::uint64_t seed) {
  Random random(seed, Purpose::kFolds, 0);
  std::string text = "sequence,time,type\n";
  for (int l = 0; l < types * lists; ++l) {
    double t = 10 * random.uniform();
    for (int i = 0; i < 4 + l % 7; ++i) {
      text += fmt::format("{},{:.6f},{}\n", l, t, l % types);
      t += 10 * random.uniform();
    }
  }
  return text;
}

/// Whole sequences with several types.
std::string whole_csv(int types, int sequences, int events, std::uint64_t seed) {
  Random random(seed, Purpose::kFolds, 0);
  std::string text = "sequence,time,type\n";
  for (int s = 0; s < sequences; ++s) {
    double t = 10 * random.uniform();
    for (int i = 0; i < events; ++i) {
      text += fmt::format("{},{:.6f},{}\n", s, t, random.below(types));
      t += random.exponential();
    }
  }
  return text;
}

config::Data population(const Folder& folder) {
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.train = {folder.write("train.csv", lists_csv(5, 60, 1))};
  options.test = {folder.write("test.csv", lists_csv(5, 20, 2))};
  options.clients = 7;
  options.types_per_client = 2;
  return options;
}

bool equal(const ClientData& a, const ClientData& b) {
  if (a.id != b.id || a.types != b.types || a.left_out != b.left_out || a.sequences.size() != b.sequences.size())
    return false;
  for (std::size_t i = 0; i < a.sequences.size(); ++i) {
    const auto &x = a.sequences[i], &y = b.sequences[i];
    if (x.id != y.id || x.source != y.source || x.origin != y.origin || x.times != y.times || x.events != y.events ||
        x.fold != y.fold)
      return false;
    for (int split = 0; split < 3; ++split) {
      if (x.windows[split].size() != y.windows[split].size()) return false;
      for (std::size_t w = 0; w < x.windows[split].size(); ++w)
        if (x.windows[split][w].start != y.windows[split][w].start ||
            x.windows[split][w].end != y.windows[split][w].end)
          return false;
    }
  }
  return true;
}

}  // namespace

TEST(Random, ReferenceValues) {
  // splitmix64 from state 0 (published reference sequence) and the 10,000th value that the standard requires of the
  // engine.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafu);
  std::mt19937_64 engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042u);
  Random random(1, Purpose::kFolds, 0);
  std::vector<int> counts(6, 0);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(items);
    ++counts[items[0] * 2 + (items[1] > items[2])];
  }
  for (int n : counts) EXPECT_NEAR(n, 1000, 4 * std::sqrt(1000 * 5 / 6.0));
}

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
  options.local_fraction = 0.1;
  const auto part = load_all(planned(options));
  for (std::size_t c = 0; c < whole.size(); ++c) {
    auto train = [](const ClientData& d) {
      return std::count_if(d.sequences.begin(), d.sequences.end(), [](const auto& s) { return s.fold >= 0; });
    };
    EXPECT_EQ(train(part[c]), std::max(1L, std::lround(0.1 * train(whole[c]))));
    EXPECT_EQ(part[c].sequences.size() - train(part[c]), whole[c].sequences.size() - train(whole[c]));
  }
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

TEST(PlanChronological, WholeSequencesGoRoundAllClients) {
  const Folder folder;
  config::Data options;
  options.train = {folder.write("a.csv", whole_csv(6, 41, 60, 1))};
  options.test = {folder.write("b.csv", whole_csv(6, 22, 60, 2))};
  options.clients = 4;
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

TEST(LoadClients, AClientsDataDoNotDependOnWhoLoadsThem) {
  const Folder folder;
  for (const auto protocol :
       {config::Protocol::kPopulation, config::Protocol::kChronological, config::Protocol::kPublishedCode}) {
    auto options = population(folder);
    options.protocol = protocol;
    if (options.protocol == config::Protocol::kChronological) options.partition = config::Partition::kHomogeneous;
    options.local_fraction = 0.6;
    const Plan plan = planned(options);
    const auto all = load_all(plan);
    const std::int64_t some[] = {5, 0, 3};
    const auto part = load_clients(plan, some);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(equal(part[i], all[some[i]]));
      EXPECT_TRUE(equal(load_client(plan, some[i]), all[some[i]]));
    }
  }
}

TEST(LoadClients, Hdf5AndCsvAgree) {
  const Folder folder;
  auto options = population(folder);
  const auto from_csv = load_all(planned(options));
  const std::string h5 = (folder.path / "train.h5").string();
  fedpp::io::SequenceFileWriter writer(h5, {options.train[0]}, "unit");
  fedpp::io::read_sequences(options.train[0], [&](fedpp::io::SequenceRecord& record) { writer.append(record); });
  writer.close();
  options.train = {h5};
  const auto from_h5 = load_all(planned(options));
  for (std::size_t c = 0; c < from_csv.size(); ++c) EXPECT_TRUE(equal(from_csv[c], from_h5[c]));
}

namespace {

/// Sequences of a client each, twelve events of all types.
std::string file_with_clients(const Folder& folder, const std::string& name, const std::vector<std::string>& names,
                              const std::vector<std::int64_t>& clients, const std::vector<std::string>& types = {},
                              const std::string& unit = "hour", const std::string& origin = "") {
  const std::string path = (folder.path / name).string();
  fedpp::io::SequenceFileWriter writer(path, {}, unit, {names, types, origin});
  for (std::size_t s = 0; s < clients.size(); ++s) {
    fedpp::io::SequenceRecord record;
    record.id = static_cast<std::int64_t>(10 * s);
    record.client = clients[s];
    record.name = "p" + std::to_string(s);
    for (int i = 0; i < 12; ++i) {
      record.times.push_back(i + 0.1 * static_cast<double>(s));
      record.types.push_back(i % 3);
    }
    writer.append(record);
  }
  writer.close();
  return path;
}

config::Data file_clients(const std::vector<std::string>& train, std::int64_t clients) {
  config::Data options;
  options.train = train;
  options.partition = config::Partition::kFile;
  options.clients = clients;
  return options;
}

std::vector<std::int64_t> ids_of(const ClientData& client) {
  std::vector<std::int64_t> ids;
  for (const ClientSequence& sequence : client.sequences) ids.push_back(sequence.id);
  return ids;
}

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST(FileClients, HoldTheSequencesThatTheFileGivesThem) {
  const Folder folder;
  const std::string file = file_with_clients(folder, "a.h5", {"north", "south", "west"}, {1, 0, 1, 2, 1});
  for (const std::uint64_t seed : {1, 2}) {  // nothing is drawn
    const Plan plan = planned(file_clients({file}, 3), seed);
    EXPECT_EQ(plan.client_names, (std::vector<std::string>{"north", "south", "west"}));
    EXPECT_TRUE(plan.named_sequences);
    EXPECT_EQ(unseen_types(plan).types, 0);
    const auto clients = load_all(plan);
    EXPECT_EQ(ids_of(clients[0]), (Ids{10}));
    EXPECT_EQ(ids_of(clients[1]), (Ids{0, 20, 40}));
    EXPECT_EQ(ids_of(clients[2]), (Ids{30}));
    EXPECT_EQ(clients[1].sequences[1].name, "p2");
    for (const ClientData& client : clients) {
      EXPECT_EQ(client.types, (std::vector<int>{0, 1, 2}));
      EXPECT_EQ(client.left_out, LeftOut{});
    }
  }
}

TEST(FileClients, AreTheSameInSeveralFilesByName) {
  const Folder folder;
  auto options = file_clients({file_with_clients(folder, "a.h5", {"north", "south"}, {0, 1}),
                               file_with_clients(folder, "b.h5", {"east", "north"}, {1, 0, 1})},
                              3);
  const Plan plan = planned(options);
  EXPECT_EQ(plan.client_names, (std::vector<std::string>{"north", "south", "east"}));
  EXPECT_EQ(ids_of(load_client(plan, 0)), (Ids{0, 0, 20}));
  EXPECT_EQ(ids_of(load_client(plan, 2)), (Ids{10}));
  // Test files of their own: everybody is scored on what is theirs.
  options = file_clients({options.train[0]}, 2);
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.test = {file_with_clients(folder, "c.h5", {"south", "north"}, {0, 0, 1})};
  const auto south = load_client(planned(options), 1);
  EXPECT_EQ(ids_of(south), (Ids{10, 0, 10}));
  EXPECT_TRUE(south.sequences[1].windows[kTrain].empty());
  EXPECT_FALSE(south.sequences[1].windows[kTest].empty());
}

TEST(FileClients, TimesOfAllFilesCountFromOneDate) {
  const Folder folder;
  const auto file = [&](const std::string& name, const std::string& unit, const std::string& origin) {
    return file_with_clients(folder, name, {"north"}, {0, 0}, {}, unit, origin);
  };
  auto options = file_clients({file("a.h5", "hour", "2019-03-01"), file("b.h5", "hour", "2019-03-01T00:00:00")}, 1);
  planned(options);
  options.time_origin = "2019-03-01";
  options.time_unit = "hour";
  planned(options);
  options.time_unit = "day";
  EXPECT_USER_ERROR(make_plan(options, 100, 1), "data.time_unit = \"day\"", "a.h5", "set data.time_unit = \"hour\"");
  options.time_unit = "hour";
  options.time_origin = "2019-03-02";
  EXPECT_USER_ERROR(make_plan(options, 100, 1), "data.time_origin = \"2019-03-02\"",
                    "set data.time_origin = \"2019-03-01\"");
  options.time_origin = "";
  options.train.push_back(file("c.h5", "hour", "2019-04-01"));
  EXPECT_USER_ERROR(make_plan(options, 100, 1), "c.h5: times count in hour from 2019-04-01, but those of", "a.h5",
                    "--like");
  options.train.back() = file("d.h5", "day", "2019-03-01");
  EXPECT_USER_ERROR(make_plan(options, 100, 1), "d.h5: times count in day");
  options.train.back() = file("e.h5", "day", "");  // of numbers nothing is known
  planned(options);
}

TEST(FileClients, FaultsNameTheFileAndTheRemedy) {
  const Folder folder;
  const std::string file = file_with_clients(folder, "a.h5", {"north", "south"}, {0, 1}, {"x", "y", "z"});
  EXPECT_USER_ERROR(make_plan(file_clients({file}, 20), 100, 1), "data.clients = 20", "a.h5", "set data.clients = 2");
  EXPECT_USER_ERROR(make_plan(file_clients({folder.write("a.csv", whole_csv(2, 3, 40, 1))}, 3), 100, 1), "a.csv",
                    "does not say which client sequence 0 belongs to", "'fedpp import' with --columns client=...");
  const std::string without = file_with_clients(folder, "b.h5", {"north", "south", "west"}, {0, 1});
  EXPECT_USER_ERROR(load_all(planned(file_clients({without}, 3))), "b.h5: client 2 'west'",
                    "left without a training sequence", "import the table without this client's rows");
  auto short_of_events = file_clients({file}, 2);
  short_of_events.train_share = 0.01;
  EXPECT_USER_ERROR(load_all(planned(short_of_events)), "left without a training sequence", "raise data.train_share");
  const std::string other = file_with_clients(folder, "c.h5", {"north", "south"}, {0, 1}, {"x", "z"});
  EXPECT_USER_ERROR(make_plan(file_clients({file, other}, 2), 100, 1), "c.h5: type 1 is 'z', but 'y' in a data file");
  // Where one file knows fewer types than another they agree on, the longer list counts.
  const std::string fewer = file_with_clients(folder, "d.h5", {"north", "south"}, {0, 1}, {"x", "y"});
  EXPECT_EQ(planned(file_clients({fewer, file}, 2)).type_names, (std::vector<std::string>{"x", "y", "z"}));
}

TEST(ClientFiles, OnlyOwnFilesAreOpenedAndExtentsReduce) {
  const Folder folder;
  config::Data options;
  options.client_files = (folder.path / "site-{client}.csv").string();
  options.clients = 3;
  folder.write("site-0.csv", whole_csv(2, 3, 40, 1));
  folder.write("site-2.csv", whole_csv(3, 5, 50, 2));
  // There is no site-1.csv: a rank that does not own client 1 must not miss it.
  Plan plan = make_plan(options, 100, 1);
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
  EXPECT_USER_ERROR(make_plan(options, 100, 1), "data.test", "{client}");
  options.test = {(folder.path / "test-{client}.csv").string()};
  const Plan plan = planned(options);
  for (const ClientData& client : load_all(plan)) EXPECT_EQ(client.sequences.size(), 25u);
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

TEST(DataErrors, TimesWhoseRatesAreNoNumbers) {
  const Folder folder;
  config::Data options;
  options.clients = 1;
  for (const auto& [unit, reason] : {std::pair{"e-310", "too short"}, {"e-102", "too short"}, {"e200", "too long"}}) {
    std::string text = "sequence,time,type\n";
    for (int i = 0; i < 12; ++i) text += fmt::format("0,{}{},0\n", i, unit);
    options.train = {folder.write("events.csv", text)};
    EXPECT_USER_ERROR(planned(options), "events.csv", "data last", reason, "another unit");
  }
}

TEST(DataErrors, NameKeyValueAndRemedy) {
  const Folder folder;
  const auto good = population(folder);
  auto with = [&](auto change) {
    auto options = good;
    change(options);
    return options;
  };
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.clients = 0; })), "data.clients", "0");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.types_per_client = 0; })), "data.types_per_client", "0");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.local_fraction = 1.5; })), "data.local_fraction", "1.5");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.realisation = config::Realisation::kPerSequence; })),
                    "data.realisation", "pooled");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.clock = config::Clock::kElapsed; })), "data.clock", "calendar");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.train.clear(); })), "data.train");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.test.clear(); })), "data.test");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.windows = {"one.csv"}; })), "data.windows", "1 tables",
                    "2 data files");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.client_files = "a"; })), "data.train", "data.client_files");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.leave_out_types = {0, 1, 2, 3, 4}; })), "data.leave_out_types");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.train = {"/nowhere.csv"}; })), "/nowhere.csv");
  EXPECT_USER_ERROR(
      planned(with([&](auto& o) { o.train = {folder.write("bad.csv", "sequence,time,type\n0,1,0\n0,nan,0\n")}; })),
      "bad.csv:3");
  EXPECT_USER_ERROR(load_all(planned(with([](auto& o) { o.clients = 290; }))), "client", "without a training sequence",
                    "data.clients", "train.csv");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.clients = 301; })), "data.clients = 301", "the 300 sequences",
                    "without a training sequence", "data.deal = false", "train.csv");
  EXPECT_USER_ERROR(planned(with([&](auto& o) {
                      o.windows = {folder.write("w.csv", "sequence,start,end\n7,0,1\n"),
                                   folder.write("v.csv", "sequence,start,end\n0,0,1\n")};
                    })),
                    "train.csv:2", "sequence 0", "w.csv");
  EXPECT_USER_ERROR(planned(with([&](auto& o) {
                      o.train = {folder.write("still.csv", "sequence,time,type\n0,1,0\n0,1,0\n")};
                      o.clients = 1;
                    })),
                    "still.csv", "no time passes");
}
