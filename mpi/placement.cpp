#include "mpi/placement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "mpi/error.hpp"

namespace fedpp::mpi {

Placement::Placement(std::span<const double> costs, int ranks) {
  if (ranks < 1) throw Error("placement of clients: " + std::to_string(ranks) + " ranks; at least one is needed");
  for (std::size_t c = 0; c < costs.size(); ++c) {
    if (!std::isfinite(costs[c]) || costs[c] < 0) {
      throw Error("placement of clients: client " + std::to_string(c) + " has cost " + std::to_string(costs[c]) +
                  "; costs are finite and not negative");
    }
  }
  rank_of_.resize(costs.size());
  owned_.resize(ranks);

  std::vector<std::int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return costs[a] > costs[b]; });

  using Load = std::pair<double, int>;  // load, rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int r = 0; r < ranks; ++r) least.emplace(0.0, r);
  for (const auto client : order) {
    auto [load, rank] = least.top();
    least.pop();
    rank_of_[client] = rank;
    least.emplace(load + costs[client], rank);
  }
  for (std::int64_t c = 0; c < clients(); ++c) owned_[rank_of_[c]].push_back(c);
}

}  // namespace fedpp::mpi
