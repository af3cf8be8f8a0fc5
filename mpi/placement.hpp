// Which rank owns which client. Every rank computes the same answer from the same costs, without communication.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fedpp::mpi {

class Placement {
 public:
  /// Greedy by cost: the most expensive client first, each to the least loaded rank; ties go to the lowest client
  /// number and the lowest rank. `costs`: [C] finite and >= 0, in any unit; `ranks` >= 1. Ranks without clients are
  /// legal. Throws Error.
  Placement(std::span<const double> costs, int ranks);

  std::int64_t clients() const { return static_cast<std::int64_t>(rank_of_.size()); }
  int ranks() const { return static_cast<int>(owned_.size()); }
  int rank_of(std::int64_t client) const { return rank_of_.at(client); }
  /// The clients of a rank, ascending.
  const std::vector<std::int64_t>& owned_by(int rank) const { return owned_.at(rank); }

 private:
  std::vector<int> rank_of_;
  std::vector<std::vector<std::int64_t>> owned_;
};

}  // namespace fedpp::mpi
