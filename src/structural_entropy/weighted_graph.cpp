#include "structural_entropy/weighted_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

namespace fedpp::structural_entropy {

WeightedGraph::WeightedGraph(std::span<const double> similarity, std::size_t vertices)
    : vertices_(vertices), weights_(vertices * vertices, 0.0), degrees_(vertices, 0.0) {
  constexpr double kRounding = 1e-9;
  assert(similarity.size() == vertices * vertices);
  for (std::size_t i = 0; i < vertices; ++i)
    for (std::size_t j = i + 1; j < vertices; ++j) {
      const double upper = similarity[i * vertices + j], lower = similarity[j * vertices + i];
      if (!std::isfinite(upper) || !std::isfinite(lower))
        throw std::invalid_argument(
            fmt::format("entry ({}, {}) is {} and its mirror {}: similarities are finite", i, j, upper, lower));
      if (std::fabs(upper - lower) > kRounding * std::max(std::fabs(upper), std::fabs(lower)))
        throw std::invalid_argument(
            fmt::format("entry ({}, {}) is {}, but its mirror {}: similarities are symmetric", i, j, upper, lower));
      const double mean = 0.5 * upper + 0.5 * lower;
      if (mean > 0) weights_[i * vertices + j] = weights_[j * vertices + i] = mean;
    }
  for (std::size_t i = 0; i < vertices; ++i) {
    for (std::size_t j = 0; j < vertices; ++j) degrees_[i] += weights_[i * vertices + j];
    volume_ += degrees_[i];
  }
}

}  // namespace fedpp::structural_entropy
