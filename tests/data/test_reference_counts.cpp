// Numbers of the population protocol that were found by an independent program on the real lists
// (validation/population).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "data/dataset.hpp"
#include "data/realisation.hpp"
#include "plans.hpp"

using namespace fedpp::data;
using test::load_all;
using test::planned;
namespace config = fedpp::config;

namespace {

std::string shared(const std::string& name) {
  const char* folder = std::getenv("FEDPP_SHARED");
  return folder ? std::string(folder) + "/data/" + name : "";
}

config::Data population(const std::string& name) {
  config::Data options;
  options.protocol = config::Protocol::kPopulation;
  options.realisation = config::Realisation::kPooled;
  options.train = {shared(name + "/train.csv.gz")};
  options.test = {shared(name + "/test.csv.gz")};
  options.partition = config::Partition::kHeterogeneous;
  return options;
}

/// Score of one constant rate a client, from the realisations alone (theory 3.3).
double homogeneous(const Plan& plan) {
  config::Model model;
  const RealisationRules rules = realisation_rules(plan, model);
  double score = 0, events = 0;
  for (const ClientData& client : load_all(plan)) {
    const Realisation train = final_realisations(client, rules)[0],
                      test = held_out_realisations(client, rules, kTest)[0];
    auto sum = [](const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); };
    const double rate = std::max(sum(train.multiplicities), 0.5) / sum(train.node_weights);  // model unit
    for (std::size_t i = 0; i < test.events.size(); ++i)
      score += test.multiplicities[i] * (std::log(rate) + test.log_offsets[i]);
    score -= rate * sum(test.node_weights);
    events += sum(test.multiplicities);
  }
  return score / events;
}

#define NEED(name) \
  if (!std::filesystem::exists(shared(std::string(name) + "/train.csv.gz"))) GTEST_SKIP() << "no " name " at hand"

}  // namespace

TEST(ReferenceCounts, TaobaoPopulation) {
  NEED("taobao_fedpp");
  auto options = population("taobao_fedpp");
  options.drop = true;
  options.drop_before = 151150;
  options.deal = false;
  const Plan undealt = planned(options);
  EXPECT_EQ(undealt.window.start, 0.125);
  EXPECT_EQ(undealt.window.end, 81.671875);
  EXPECT_EQ(undealt.catalogue.size(), 6958u + 2606u);  // lists whose events are all dropped are exposed none the less
  EXPECT_NEAR(homogeneous(undealt), 3.622, 6e-4);
  options.deal = true;
  double dealt = 0;
  for (int seed = 1; seed <= 2; ++seed) dealt += homogeneous(planned(options, seed)) / 2;
  EXPECT_NEAR(dealt, 2.174, 6e-3);
}

TEST(ReferenceCounts, StackOverflowPopulation) {
  NEED("stackoverflow_fedpp");
  auto options = population("stackoverflow_fedpp");
  options.drop = true;
  options.drop_before = 1325;
  options.deal = false;
  const Plan undealt = planned(options);
  EXPECT_NEAR(undealt.window.start, 0.38037, 1e-5);
  EXPECT_NEAR(undealt.window.end, 63.53381, 1e-5);
  EXPECT_NEAR(homogeneous(undealt), 4.108, 6e-4);
}

TEST(ReferenceCounts, AmazonPopulationDealt) {
  NEED("amazon_fedpp");
  auto options = population("amazon_fedpp");
  options.leave_out_types = {0, 1};
  const Plan plan = planned(options);
  EXPECT_EQ(plan.kept_types.size(), 14u);
  EXPECT_NEAR(plan.window.start, 0.31536, 1e-5);
  EXPECT_NEAR(plan.window.end, 69.96995, 1e-5);
  EXPECT_NEAR(homogeneous(plan), 2.455, 4e-3);
}

TEST(ReferenceCounts, TaobaoChronologicalHoldsEverySequenceOnce) {
  NEED("taobao");
  config::Data options;
  options.train = {shared("taobao/train.csv.gz")};
  options.validation = {shared("taobao/dev.csv.gz")};
  options.test = {shared("taobao/test.csv.gz")};
  options.partition = config::Partition::kHeterogeneous;
  std::int64_t sequences = 0;
  for (const ClientData& client : load_all(planned(options))) {
    EXPECT_EQ(static_cast<std::int64_t>(client.sequences.size()) + client.left_out.sequences, 100);
    sequences += static_cast<std::int64_t>(client.sequences.size());
  }
  EXPECT_GT(sequences, 0);
}
