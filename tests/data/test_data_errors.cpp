#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "io/sequence_file.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_all;
using test::planned;
using test::population;
namespace config = fedpp::config;

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

TEST(DataErrors, SequencesWithoutWindowsBesideOthersInAFile) {
  const Folder folder;
  config::Data options;
  options.clients = 1;
  options.train = {(folder.path / "mixed.h5").string()};
  fedpp::io::SequenceFileWriter writer(options.train.front(), {"a test"}, "hour");
  const std::vector<fedpp::io::Window> windows{{0, 9}};
  writer.append({.id = 3, .times = {1, 2}, .types = {0, 0}}, windows);
  writer.append({.id = 4, .times = {1, 2}, .types = {0, 0}});
  writer.close();
  EXPECT_USER_ERROR(planned(options), "mixed.h5: sequence 4 has no windows", "others of the file have", "import it");
}

TEST(DataErrors, NameKeyValueAndRemedy) {
  const Folder folder;
  const auto good = population(folder);
  auto with = [&](auto change) {
    auto options = good;
    change(options);
    return options;
  };
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.leave_out_types = {0, 1, 2, 3, 4}; })), "data.leave_out_types");
  EXPECT_USER_ERROR(planned(with([](auto& o) { o.train = {"/nowhere.csv"}; })), "/nowhere.csv");
  EXPECT_USER_ERROR(
      planned(with([&](auto& o) { o.train = {folder.write("bad.csv", "sequence,time,type\n0,1,0\n0,nan,0\n")}; })),
      "bad.csv:3");
  EXPECT_USER_ERROR(load_all(planned(with([](auto& o) { o.clients = 290; }))), "client", "without a training sequence",
                    "none of these types came to it", "bring more sequences, lower data.clients, raise", "train.csv");
  config::Data of_short_sequences;
  of_short_sequences.clients = 2;
  of_short_sequences.train = {folder.write("short.csv", "sequence,time,type\n0,1,0\n0,2,0\n1,1,0\n1,2,0\n")};
  EXPECT_USER_ERROR(load_all(planned(of_short_sequences)), "without a training sequence",
                    "bring longer sequences, or lower data.clients");
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
