#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "data/seen_types.hpp"
#include "io/sequence_file.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_all;
using test::load_client;
using test::planned;
using test::whole_csv;
namespace config = fedpp::config;

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
  EXPECT_USER_ERROR(test::made_plan(options), "data.time_unit = \"day\"", "a.h5", "set data.time_unit = \"hour\"");
  options.time_unit = "hour";
  options.time_origin = "2019-03-02";
  EXPECT_USER_ERROR(test::made_plan(options), "data.time_origin = \"2019-03-02\"",
                    "set data.time_origin = \"2019-03-01\"");
  options.time_origin = "";
  options.train.push_back(file("c.h5", "hour", "2019-04-01"));
  EXPECT_USER_ERROR(test::made_plan(options), "c.h5: times count in hour from 2019-04-01, but those of", "a.h5",
                    "--like");
  options.train.back() = file("d.h5", "day", "2019-03-01");
  EXPECT_USER_ERROR(test::made_plan(options), "d.h5: times count in day");
  options.train.back() = file("e.h5", "day", "");  // of numbers nothing is known
  planned(options);
}

TEST(FileClients, FaultsNameTheFileAndTheRemedy) {
  const Folder folder;
  const std::string file = file_with_clients(folder, "a.h5", {"north", "south"}, {0, 1}, {"x", "y", "z"});
  EXPECT_USER_ERROR(test::made_plan(file_clients({file}, 20)), "data.clients = 20", "a.h5", "set data.clients = 2");
  EXPECT_USER_ERROR(test::made_plan(file_clients({folder.write("a.csv", whole_csv(2, 3, 40, 1))}, 3)), "a.csv",
                    "does not say which client sequence 0 belongs to", "'fedpp import' with --columns client=...");
  const std::string without = file_with_clients(folder, "b.h5", {"north", "south", "west"}, {0, 1});
  EXPECT_USER_ERROR(load_all(planned(file_clients({without}, 3))), "b.h5: client 2 'west'",
                    "left without a training sequence", "data.split_at = \"time\"",
                    "import the table without the rows of such clients");
  auto short_of_events = file_clients({file}, 2);
  short_of_events.train_share = 0.01;
  EXPECT_USER_ERROR(load_all(planned(short_of_events)), "client 0 'north'", "left without a training sequence",
                    "so are 1 more of this rank's 2 clients (1 'south')", "raise data.train_share");
  const std::string other = file_with_clients(folder, "c.h5", {"north", "south"}, {0, 1}, {"x", "z"});
  EXPECT_USER_ERROR(test::made_plan(file_clients({file, other}, 2)), "c.h5: type 1 is 'z', but 'y' in a data file");
  // Where one file knows fewer types than another they agree on, the longer list counts.
  const std::string fewer = file_with_clients(folder, "d.h5", {"north", "south"}, {0, 1}, {"x", "y"});
  EXPECT_EQ(planned(file_clients({fewer, file}, 2)).type_names, (std::vector<std::string>{"x", "y", "z"}));
}

TEST(PlanContent, tells_names_units_and_dates_apart) {
  const Folder folder;
  const auto content = [&](auto... changed) {
    return test::made_plan(file_clients({file_with_clients(folder, "a.h5", changed...)}, 2)).content;
  };
  using Names = std::vector<std::string>;
  const Ids clients{0, 1, 1};
  std::set<std::uint64_t> contents{content(Names{"x", "y"}, clients, Names{"p", "q", "r"})};
  EXPECT_TRUE(contents.contains(content(Names{"x", "y"}, clients, Names{"p", "q", "r"}))) << "the same file";
  EXPECT_TRUE(contents.insert(content(Names{"x", "z"}, clients, Names{"p", "q", "r"})).second);
  EXPECT_TRUE(contents.insert(content(Names{"x", "y"}, Ids{0, 0, 1}, Names{"p", "q", "r"})).second);
  EXPECT_TRUE(contents.insert(content(Names{"x", "y"}, clients, Names{"p", "q", "s"})).second);
  EXPECT_TRUE(contents.insert(content(Names{"x", "y"}, clients, Names{"p", "q", "r"}, "day")).second);
  EXPECT_TRUE(contents.insert(content(Names{"x", "y"}, clients, Names{"p", "q", "r"}, "hour", "2019-03-01")).second);
}
