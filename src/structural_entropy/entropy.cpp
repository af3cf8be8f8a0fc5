#include "structural_entropy/entropy.hpp"

#include <cassert>
#include <cmath>

namespace fedpp::structural_entropy {

namespace {

/// x log2(y), 0 where x is.
double times_log2(double x, double y) { return x > 0 ? x * std::log2(y) : 0.0; }

}  // namespace

double entropy(const WeightedGraph& graph, const Partition& partition) {
  const std::size_t n = graph.vertices();
  assert(partition.size() == n);
  if (!(graph.volume() > 0)) return 0;
  std::vector<double> volume(n, 0.0), cut(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    volume[partition[i]] += graph.degree(i);
    for (std::size_t j = 0; j < n; ++j)
      if (partition[j] != partition[i]) cut[partition[i]] += graph.weight(i, j);
  }
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum -= times_log2(graph.degree(i), graph.degree(i) / volume[partition[i]]);
  for (std::size_t l = 0; l < n; ++l) sum -= times_log2(cut[l], volume[l] / graph.volume());
  return sum / graph.volume();
}

double merge_change(const Community& s, const Community& t, double between, double total_volume) {
  const double joint = s.volume + t.volume;
  return (times_log2(s.internal, joint / s.volume) + times_log2(t.internal, joint / t.volume) +
          2 * between * std::log2(joint / total_volume)) /
         total_volume;
}

}  // namespace fedpp::structural_entropy
