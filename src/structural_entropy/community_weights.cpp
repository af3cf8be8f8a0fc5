#include "structural_entropy/community_weights.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fedpp::structural_entropy {

std::vector<double> community_weights(std::span<const double> similarity, const Partition& partition) {
  const std::size_t n = partition.size();
  assert(similarity.size() == n * n);
  std::vector<double> alpha(n * n, 0.0);
  for (std::size_t u = 0; u < n; ++u) {
    double* row = alpha.data() + u * n;
    const auto score = [&](std::size_t v) { return v == u ? 1.0 : std::max(similarity[u * n + v], 0.0); };
    double greatest = 0, sum = 0;  // subtracted, so that no similarity overflows
    for (std::size_t v = 0; v < n; ++v)
      if (partition[v] == partition[u]) greatest = std::max(greatest, score(v));
    for (std::size_t v = 0; v < n; ++v)
      if (partition[v] == partition[u]) sum += row[v] = std::exp(score(v) - greatest);
    for (std::size_t v = 0; v < n; ++v) row[v] /= sum;
  }
  return alpha;
}

}  // namespace fedpp::structural_entropy
