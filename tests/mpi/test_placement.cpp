#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "mpi/communicator.hpp"
#include "mpi/error.hpp"
#include "mpi/placement.hpp"

namespace {
using fedpp::mpi::Placement;

TEST(Placement, largest_first_to_the_least_loaded_rank) {
  const std::vector<double> costs{1, 7, 3, 3, 5};
  const Placement placement(costs, 2);
  // 7 -> 0; 5 -> 1; 3 (client 2) -> 1; 3 (client 3) -> 0; 1 -> 1
  EXPECT_EQ(placement.owned_by(0), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(placement.owned_by(1), (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(Placement, equal_costs_are_dealt_by_number) {
  const Placement placement(std::vector<double>(5, 2.0), 3);
  for (int c = 0; c < 5; ++c) EXPECT_EQ(placement.rank_of(c), c % 3);
}

TEST(Placement, every_client_has_one_owner_and_lists_ascend) {
  std::mt19937 engine(3);
  std::exponential_distribution<double> cost(1.0);
  for (const int clients : {0, 1, 3, 200}) {
    for (const int ranks : {1, 2, 8, 300}) {
      std::vector<double> costs(clients);
      for (auto& c : costs) c = cost(engine);
      const Placement placement(costs, ranks);
      std::vector<int> owners(clients, 0);
      for (int r = 0; r < ranks; ++r) {
        const auto& owned = placement.owned_by(r);
        EXPECT_TRUE(std::is_sorted(owned.begin(), owned.end()));
        for (const auto c : owned) {
          EXPECT_EQ(placement.rank_of(c), r);
          ++owners[c];
        }
      }
      EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), clients);
      // Graham's bound for largest-first: no rank exceeds the mean by more than the largest single cost.
      const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
      const double largest = clients > 0 ? *std::max_element(costs.begin(), costs.end()) : 0;
      for (int r = 0; r < ranks; ++r) {
        double load = 0;
        for (const auto c : placement.owned_by(r)) load += costs[c];
        EXPECT_LE(load, total / ranks + largest + 1e-12);
      }
    }
  }
}

TEST(Placement, costs_that_are_no_costs_are_refused) {
  EXPECT_THROW(Placement(std::vector<double>{1, -1}, 2), fedpp::mpi::Error);
  EXPECT_THROW(Placement(std::vector<double>{std::nan("")}, 2), fedpp::mpi::Error);
  EXPECT_THROW(Placement(std::vector<double>{1}, 0), fedpp::mpi::Error);
  EXPECT_EQ(Placement(std::vector<double>{0, 2, 0}, 2).rank_of(1), 0) << "nothing to do is a cost";
}

TEST(TurnsByNode, a_nodes_ranks_follow_each_other_and_rank_0_is_first) {
  using fedpp::mpi::turns_by_node;
  EXPECT_EQ(turns_by_node(std::vector{0}), (std::vector{0}));
  EXPECT_EQ(turns_by_node(std::vector{0, 0, 2, 2}), (std::vector{0, 1, 2, 3}));                    // in blocks
  EXPECT_EQ(turns_by_node(std::vector{0, 1, 2, 0, 1, 2, 0}), (std::vector{0, 3, 6, 1, 4, 2, 5}));  // dealt in turn
  EXPECT_EQ(turns_by_node(std::vector{0, 1, 1, 0, 1}), (std::vector{0, 3, 1, 2, 4}));              // of other sizes
}

}  // namespace
