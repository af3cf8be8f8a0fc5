#include <gtest/gtest.h>

#include "data/dataset.hpp"
#include "io/sequence_file.hpp"
#include "made_events.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_all;
using test::load_client;
using test::planned;
using test::population;
namespace config = fedpp::config;

namespace {

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
