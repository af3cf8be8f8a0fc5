// Two-dimensional structural entropy of a graph under a partition of its vertices (theory 2.4), base 2, 0 log 0 = 0:
//   H = - sum_l sum_{i in X_l} d_i/V log2( d_i/vol(X_l) )  -  sum_l g_l/V log2( vol(X_l)/V )
// vol(X): sum of the degrees in X; g: weight of the edges that leave X; V: sum of all degrees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structural_entropy/weighted_graph.hpp"

namespace fedpp::structural_entropy {

/// The community of every vertex; communities are numbered by first appearance.
using Partition = std::vector<std::int64_t>;

/// Any numbering of communities from 0 on, each number below the count of vertices.
double entropy(const WeightedGraph& graph, const Partition& partition);

/// What merging asks of a community.
struct Community {
  double volume = 0;
  double internal = 0;  ///< volume - cut: twice the weight of the edges within
};

/// dH of merging S and T with weight w > 0 between them in a graph of volume V:
///   dH = [ (a-gS) log2((a+b)/a) + (b-gT) log2((a+b)/b) + 2 w log2((a+b)/V) ] / V
double merge_change(const Community& s, const Community& t, double between, double total_volume);

/// Greedy minimisation from singletons: always the merge with the most negative dH, until none is below -1e-12. Changes
/// within 1e-12 of the least are equal to it, and of these the lowest pair is merged, communities ordered by their
/// smallest vertex. Isolated vertices stay alone. O(K^2 log K) time, 3 K^2 to 5 K^2 doubles.
Partition minimise(const WeightedGraph& graph);

}  // namespace fedpp::structural_entropy
