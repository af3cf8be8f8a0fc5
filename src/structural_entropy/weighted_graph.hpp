// An undirected graph with weights: vertices are clients, an edge's weight is how similar two of them are (theory 2.4).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fedpp::structural_entropy {

class WeightedGraph {
 public:
  /// `similarity`: [K][K], finite, symmetric; its diagonal is ignored. An edge is where it is positive. Entries that
  /// mirror each other may differ by rounding (1e-9 of the larger): their mean is taken. Throws std::invalid_argument
  /// naming the entry that is not finite or not symmetric.
  WeightedGraph(std::span<const double> similarity, std::size_t vertices);

  std::size_t vertices() const { return vertices_; }
  double weight(std::size_t i, std::size_t j) const { return weights_[i * vertices_ + j]; }  ///< 0 on the diagonal
  const std::vector<double>& weights() const { return weights_; }                            ///< [K][K]
  double degree(std::size_t i) const { return degrees_[i]; }                                 ///< d_i
  double volume() const { return volume_; }                                                  ///< V = sum of d_i

 private:
  std::size_t vertices_;
  std::vector<double> weights_;  // [K][K]
  std::vector<double> degrees_;  // [K]
  double volume_ = 0;
};

}  // namespace fedpp::structural_entropy
