// The library against the definition, merged and searched in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "structural_entropy/community_weights.hpp"

namespace fedpp::structural_entropy {
namespace {

using Similarity = std::vector<double>;

/// H from the definition, by sets of vertices. [K][K]
double defined_entropy(const Similarity& w, const Partition& partition) {
  const std::size_t n = partition.size();
  const auto edge = [&](std::size_t i, std::size_t j) { return i == j ? 0.0 : std::max(w[i * n + j], 0.0); };
  long double total = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) total += edge(i, j);
  if (total == 0) return 0;
  long double h = 0;
  for (std::size_t l = 0; l < n; ++l) {
    long double volume = 0, cut = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n && partition[i] == static_cast<std::int64_t>(l); ++j) {
        volume += edge(i, j);
        if (partition[j] != static_cast<std::int64_t>(l)) cut += edge(i, j);
      }
    for (std::size_t i = 0; i < n; ++i) {
      long double degree = 0;
      for (std::size_t j = 0; j < n; ++j) degree += edge(i, j);
      if (partition[i] == static_cast<std::int64_t>(l) && degree > 0) h -= degree / total * std::log2(degree / volume);
    }
    if (cut > 0) h -= cut / total * std::log2(volume / total);
  }
  return static_cast<double>(h);
}

Partition renumbered(const Partition& partition) {
  Partition result, seen;
  for (const auto l : partition) {
    const auto at = std::find(seen.begin(), seen.end(), l);
    result.push_back(at - seen.begin());
    if (at == seen.end()) seen.push_back(l);
  }
  return result;
}

Partition singletons(std::size_t n) {
  Partition partition(n);
  for (std::size_t i = 0; i < n; ++i) partition[i] = static_cast<std::int64_t>(i);
  return partition;
}

/// The rule of theory 2.4, item 3, with H computed anew for every candidate.
Partition defined_minimum(const Similarity& w, std::size_t n) {
  auto partition = singletons(n);  // numbered by smallest vertex
  for (;;) {
    const double now = defined_entropy(w, partition);
    double best = 0;
    Partition chosen;
    for (std::size_t s = 0; s < n; ++s)
      for (std::size_t t = s + 1; t < n; ++t) {
        if (std::count(partition.begin(), partition.end(), s) == 0 ||
            std::count(partition.begin(), partition.end(), t) == 0)
          continue;
        auto merged = partition;
        std::replace(merged.begin(), merged.end(), static_cast<std::int64_t>(t), static_cast<std::int64_t>(s));
        const double change = defined_entropy(w, merged) - now;
        if (change < best - 1e-12) {
          best = change;
          chosen = merged;
        }
      }
    if (best >= -1e-12) return renumbered(partition);
    partition = chosen;
  }
}

/// The least entropy of all partitions of K <= 8 vertices.
double least_entropy(const Similarity& w, std::size_t n) {
  Partition partition(n, 0);
  double least = 1e300;
  const auto assign = [&](const auto& self, std::size_t vertex, std::int64_t used) -> void {
    if (vertex == n) {
      least = std::min(least, defined_entropy(w, partition));
      return;
    }
    for (std::int64_t l = 0; l <= used; ++l) {
      partition[vertex] = l;
      self(self, vertex + 1, std::max(used, l + 1));
    }
  };
  assign(assign, 0, 0);
  return least;
}

Similarity random_similarity(std::mt19937& random, std::size_t n, double share_of_edges) {
  std::uniform_real_distribution<double> uniform(-0.2, 1);
  Similarity w(n * n, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      w[i * n + j] = w[j * n + i] = uniform(random) < share_of_edges * 1.2 - 0.2 ? uniform(random) : 0.0;
  return w;
}

/// `groups` of equal size: similarity `within` and `between` them, with a little noise.
Similarity planted(std::mt19937& random, std::size_t n, std::size_t groups, double within, double between,
                   double noise) {
  std::normal_distribution<double> normal(0, 1);
  Similarity w(n * n, 1.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      w[i * n + j] = w[j * n + i] = (i % groups == j % groups ? within : between) + noise * normal(random);
  return w;
}

std::int64_t communities(const Partition& partition) {
  return partition.empty() ? 0 : 1 + *std::max_element(partition.begin(), partition.end());
}

TEST(StructuralEntropy, TheValueIsTheDefinition) {
  std::mt19937 random(1);
  for (const std::size_t n : {2, 3, 7, 20, 41})
    for (const double edges : {0.2, 1.0}) {
      const auto w = random_similarity(random, n, edges);
      const WeightedGraph graph(w, n);
      Partition partition(n);
      for (auto& l : partition) l = static_cast<std::int64_t>(random() % n);
      for (const auto& p : {partition, singletons(n), Partition(n, 0)})
        EXPECT_NEAR(entropy(graph, p), defined_entropy(w, p), 1e-12);
    }
}

TEST(StructuralEntropy, TheChangeOfAMergeIsTheDifference) {
  std::mt19937 random(2);
  constexpr std::size_t n = 12;
  const auto w = random_similarity(random, n, 0.8);
  const WeightedGraph graph(w, n);
  Partition partition;
  for (std::size_t i = 0; i < n; ++i) partition.push_back(static_cast<std::int64_t>(i % 4));
  std::vector<Community> parts(4);
  double between[4][4] = {};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      parts[i % 4].volume += graph.weight(i, j);
      if (i % 4 == j % 4) parts[i % 4].internal += graph.weight(i, j);
      between[i % 4][j % 4] += graph.weight(i, j);
    }
  for (int s = 0; s < 4; ++s)
    for (int t = s + 1; t < 4; ++t) {
      auto merged = partition;
      std::replace(merged.begin(), merged.end(), std::int64_t{t}, std::int64_t{s});
      EXPECT_NEAR(merge_change(parts[s], parts[t], between[s][t], graph.volume()),
                  defined_entropy(w, merged) - defined_entropy(w, partition), 1e-12);
    }
}

TEST(StructuralEntropy, GreedyPartitionsAreTheReferences) {
  std::mt19937 random(3);
  int merged = 0;
  for (int draw = 0; draw < 120; ++draw) {
    const std::size_t n = 2 + random() % 11;
    const auto w = random_similarity(random, n, draw % 3 == 0 ? 0.3 : 1.0);
    const auto partition = minimise(WeightedGraph(w, n));
    EXPECT_EQ(partition, defined_minimum(w, n)) << "draw " << draw;
    merged += communities(partition) < static_cast<std::int64_t>(n);
  }
  EXPECT_GT(merged, 80);
}

TEST(StructuralEntropy, GreedyComesCloseToTheExactMinimum) {
  std::mt19937 random(4);
  int exact = 0;
  constexpr int kDraws = 40;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::size_t n = 3 + random() % 6;
    const auto w = random_similarity(random, n, 1.0);
    const WeightedGraph graph(w, n);
    const double greedy = entropy(graph, minimise(graph)), least = least_entropy(w, n);
    EXPECT_GE(greedy, least - 1e-12);
    EXPECT_LE(greedy, 1.05 * least);
    exact += greedy <= least + 1e-12;
  }
  EXPECT_GE(exact, kDraws / 2);
}

TEST(StructuralEntropy, IsolatedVerticesStayAlone) {
  // 0 and 3, 4 and 5 belong together; 1 has only a negative, 2 no similarity.
  Similarity w(36, 0.0);
  w[0 * 6 + 3] = w[3 * 6 + 0] = w[4 * 6 + 5] = w[5 * 6 + 4] = 0.7;
  w[0 * 6 + 1] = w[1 * 6 + 0] = -0.9;
  const WeightedGraph graph(w, 6);
  EXPECT_EQ(minimise(graph), (Partition{0, 1, 2, 0, 3, 3}));
  EXPECT_EQ(entropy(graph, minimise(graph)), 1.0);  // which of two in a community: one bit; no edge leaves any
  for (const std::size_t n : {0, 1, 3}) {
    const WeightedGraph empty(Similarity(n * n, 0.0), n);
    EXPECT_EQ(minimise(empty), singletons(n));
    EXPECT_EQ(entropy(empty, singletons(n)), 0);
  }
}

TEST(StructuralEntropy, TiesGoToTheLowestPair) {
  // Four vertices, all alike: {0,1} is merged before {2,3}, and every relabelling gives the same.
  EXPECT_EQ(minimise(WeightedGraph(Similarity(16, 0.5), 4)), (Partition{0, 0, 1, 1}));
  // Three alike: the first two are merged first.
  const auto three = minimise(WeightedGraph(Similarity(9, 0.5), 3));
  EXPECT_EQ(three[0], three[1]);
  // Differences within 1e-12 are equal, beyond they decide.
  Similarity w(16, 0.5);
  w[2 * 4 + 3] = w[3 * 4 + 2] = 0.5 + 1e-13;
  EXPECT_EQ(minimise(WeightedGraph(w, 4)), (Partition{0, 0, 1, 1}));
  w[1 * 4 + 2] = w[2 * 4 + 1] = 0.5 + 2e-13;
  EXPECT_EQ(minimise(WeightedGraph(w, 4)), (Partition{0, 0, 1, 1}));
  w[1 * 4 + 2] = w[2 * 4 + 1] = 0.5 + 1e-9;
  EXPECT_EQ(minimise(WeightedGraph(w, 4)), (Partition{0, 1, 1, 0}));
}

TEST(StructuralEntropy, NearUniformSimilaritiesSplit) {
  std::mt19937 random(5);
  const auto split = [&](std::size_t n) {
    const auto partition = minimise(WeightedGraph(planted(random, n, 1, 0.9, 0, 1e-6), n));
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(communities(partition)), 0);
    for (const auto l : partition) ++sizes[l];
    std::sort(sizes.rbegin(), sizes.rend());
    return sizes;
  };
  EXPECT_EQ(split(6), (std::vector<std::int64_t>{4, 2}));
  EXPECT_EQ(split(20).size(), 2u);
  EXPECT_EQ(split(50).size(), 2u);
}

TEST(StructuralEntropy, PlantedGroupsAreFoundWhereTheyCanBe) {
  std::mt19937 random(6);
  for (const auto& [n, between] : {std::pair<std::size_t, double>{20, 0.5}, {40, 0.5}, {200, 0.15}}) {
    Partition truth;
    for (std::size_t i = 0; i < n; ++i) truth.push_back(static_cast<std::int64_t>(i % 4));
    EXPECT_EQ(minimise(WeightedGraph(planted(random, n, 4, 0.95, between, 0.01), n)), truth) << n;
  }
}

TEST(StructuralEntropy, SimilaritiesAreFiniteAndSymmetric) {
  Similarity w(9, 0.5);
  w[1] = 0.4;
  EXPECT_THROW(WeightedGraph(w, 3), std::invalid_argument);
  w[3] = 0.4 * (1 + 1e-12);
  EXPECT_NO_THROW(WeightedGraph(w, 3));
  w[3] = 0.4 * (1 + 1e-8);  // more than rounding
  EXPECT_THROW(WeightedGraph(w, 3), std::invalid_argument);
  w[3] = 0.4 * (1 + 1e-12);
  auto mirrored = w;
  std::swap(mirrored[1], mirrored[3]);
  EXPECT_EQ(WeightedGraph(w, 3).weights(), WeightedGraph(mirrored, 3).weights())
      << "the mean of both, whichever is first";
  w[5] = NAN;
  EXPECT_THROW(WeightedGraph(w, 3), std::invalid_argument);
}

TEST(CommunityWeights, AreTheSoftmaxWithinACommunity) {
  const Similarity w{9, 0.8, -0.3, 0.8, 9, 0.1, -0.3, 0.1, 9};
  const auto pair = community_weights(w, {0, 0, 1});
  EXPECT_NEAR(pair[0], std::exp(1.0) / (std::exp(1.0) + std::exp(0.8)), 1e-15);
  EXPECT_NEAR(pair[1], std::exp(0.8) / (std::exp(1.0) + std::exp(0.8)), 1e-15);
  EXPECT_EQ(pair[2], 0);
  EXPECT_EQ(pair[8], 1);
  const auto all = community_weights(w, {0, 0, 0});  // a negative similarity counts as 0
  EXPECT_NEAR(all[2], 1 / (std::exp(1.0) + std::exp(0.8) + 1), 1e-15);
}

}  // namespace
}  // namespace fedpp::structural_entropy
