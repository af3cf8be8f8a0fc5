#include "federation/similarity.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "gpu/host_dot.hpp"

namespace fedpp::federation {

namespace {

/// To length 1; zeros stay.
void normalise(double* x, std::size_t n) {
  const double length = std::sqrt(gpu::host_dot(x, x, n));
  for (std::size_t i = 0; i < n && length > 0; ++i) x[i] /= length;
}

/// [n x n] E'E with its rows' and columns' means taken off.
std::vector<double> centred_gram(std::span<const double> h, std::size_t dimension, std::size_t n) {
  std::vector<double> centred(h.begin(), h.end());
  for (std::size_t d = 0; d < dimension; ++d) {
    double mean = 0;
    for (std::size_t j = 0; j < n; ++j) mean += centred[j * dimension + d] / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) centred[j * dimension + d] -= mean;
  }
  std::vector<double> gram(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      gram[i * n + j] = gpu::host_dot(centred.data() + i * dimension, centred.data() + j * dimension, dimension);
  return gram;
}

}  // namespace

std::vector<double> signature(Similarity similarity, std::span<const double> h, std::size_t dimension) {
  assert(dimension > 0 && h.size() % dimension == 0);
  const std::size_t n = h.size() / dimension;
  std::vector<double> result;
  switch (similarity) {
    case Similarity::kMeanOfCosines:
      result.assign(h.begin(), h.end());
      for (std::size_t j = 0; j < n; ++j) normalise(result.data() + j * dimension, dimension);
      for (double& x : result) x /= std::sqrt(static_cast<double>(n));
      break;
    case Similarity::kCosineOfMeans:
      result.assign(dimension, 0.0);
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t d = 0; d < dimension; ++d) result[d] += h[j * dimension + d];
      normalise(result.data(), dimension);
      break;
    case Similarity::kCentredGram:
      result = centred_gram(h, dimension, n);
      normalise(result.data(), result.size());
      break;
  }
  if (!std::all_of(result.begin(), result.end(), [](double x) { return std::isfinite(x); }))
    std::fill(result.begin(), result.end(), 0.0);
  return result;
}

std::size_t signature_length(Similarity similarity, std::size_t points, std::size_t dimension) {
  switch (similarity) {
    case Similarity::kMeanOfCosines:
      return points * dimension;
    case Similarity::kCosineOfMeans:
      return dimension;
    case Similarity::kCentredGram:
      return points * points;
  }
  assert(false);
  return 0;
}

std::vector<double> similarities(const std::vector<const std::vector<double>*>& signatures) {
  const std::size_t n = signatures.size();
  std::vector<double> all(n * n);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = u; v < n; ++v)
      all[u * n + v] = all[v * n + u] =
          gpu::host_dot(signatures[u]->data(), signatures[v]->data(), signatures[u]->size());
  return all;
}

}  // namespace fedpp::federation
