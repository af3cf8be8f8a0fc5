// Known values of the trivial models (theory 3.3): Taobao's lists per type, 20 clients of 4 types, not dealt.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "evaluation/trivial_models.hpp"

namespace fedpp::evaluation {
namespace {

using Lists = std::map<int, std::vector<std::vector<double>>>;  // by type

constexpr double kOrigin = 151150;
constexpr int kClients = 20, kTypes = 17, kTypesPerClient = 4;

Lists read(const std::string& path) {
  Lists lists;
  gzFile file = gzopen(path.c_str(), "rb");
  char line[256];
  long current = -1;
  gzgets(file, line, sizeof line);
  while (gzgets(file, line, sizeof line) != nullptr) {
    long sequence;
    double time;
    int type;
    if (std::sscanf(line, "%ld,%lf,%d", &sequence, &time, &type) != 3) break;
    if (sequence != current) lists[type].emplace_back();
    current = sequence;
    if (time >= kOrigin) lists[type].back().push_back(time - kOrigin);
  }
  gzclose(file);
  return lists;
}

class Taobao : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* shared = std::getenv("FEDPP_SHARED");
    const std::string folder = std::string(shared != nullptr ? shared : "") + "/data/taobao_fedpp/";
    if (!std::filesystem::exists(folder + "train.csv.gz")) return;
    const Lists train = read(folder + "train.csv.gz"), test = read(folder + "test.csv.gz");
    data::Interval window{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const auto& [type, lists] : train) {
      for (const auto& times : lists) {
        if (times.empty()) continue;
        window.start = std::min(window.start, times.front());
        window.end = std::max(window.end, times.back());
      }
    }
    std::mt19937_64 random(1);
    for (int c = 0; c < kClients; ++c) {
      data::ClientData client;
      client.id = c;
      const auto add = [&](const Lists& lists, data::Split split) {
        for (int j = 0; j < kTypesPerClient; ++j) {
          for (const auto& times : lists.at((c * kTypesPerClient + j) % kTypes)) {
            data::ClientSequence s;
            for (double t : times) {
              if (t >= window.start && t <= window.end) s.times.push_back(t);
            }
            s.events[split] = s.times;
            s.windows[split] = {window};
            client.sequences.push_back(std::move(s));
          }
        }
      };
      add(train, data::kTrain);
      const std::size_t lists = client.sequences.size();
      std::vector<int> fold(lists);
      for (std::size_t i = 0; i < lists; ++i) fold[i] = static_cast<int>(i % 5);
      std::shuffle(fold.begin(), fold.end(), random);
      for (std::size_t i = 0; i < lists; ++i) client.sequences[i].fold = fold[i];
      add(test, data::kTest);
      clients_.push_back(std::move(client));
    }
  }
  static void TearDownTestSuite() { clients_.clear(); }

  void SetUp() override {
    if (clients_.empty()) GTEST_SKIP() << "data/taobao_fedpp was not found in the folder that FEDPP_SHARED names";
  }

  static std::map<std::string, double> per_event(Protocol protocol) {
    std::map<std::string, Score> sums;
    for (const data::ClientData& client : clients_) {
      for (const TrivialScore& s : trivial_scores(client, data::kTest, {protocol, false})) sums[s.model] += s.score;
    }
    std::map<std::string, double> result;
    for (const auto& [name, sum] : sums) result[name] = sum.headline_per_event();
    return result;
  }

  static std::vector<data::ClientData> clients_;
};
std::vector<data::ClientData> Taobao::clients_;

TEST_F(Taobao, PopulationHasItsKnownValues) {
  const auto scores = per_event(Protocol::kPopulation);
  EXPECT_NEAR(scores.at("homogeneous"), 3.622, 6e-4);
  EXPECT_NEAR(scores.at("histogram, 50 bins"), 4.082, 1.1e-3);
  EXPECT_NEAR(scores.at("histogram, bins by 5-fold"), 4.055, 6e-3);  // depends on the folds
}

TEST_F(Taobao, PublishedCodeHasItsKnownValues) {
  const auto scores = per_event(Protocol::kPublishedCode);
  EXPECT_NEAR(scores.at("homogeneous"), 2.949, 6e-4);
  EXPECT_NEAR(scores.at("histogram, 50 bins"), 3.411, 6e-4);
}

}  // namespace
}  // namespace fedpp::evaluation
