#include "model/fitted_posterior.hpp"

#include <cassert>
#include <utility>

#include "model/projection.hpp"

namespace fedpp::model {

PointsRead read_points(const LatentPosterior::Fitted& fitted, const std::vector<ClientPoints>& points,
                       std::optional<int> sample) {
  const auto& options = fitted.options;
  assert(!sample || fitted.clients.size() == 1);
  const int samples = sample ? 1 : options.samples;
  PointsRead read{ClientBatch(points, fitted.weights, {.samples = samples, .jitter = options.jitter}), {}};
  const auto& b = read.batch.batch();
  auto& f = read.fields = read.batch.fields();
  const auto& trained = fitted.trained->fields();
  f.v_mean = trained.v_mean;
  f.v_factor = trained.v_factor;
  f.weights = trained.weights;
  if (sample) {
    const auto each = trained.weights.size() / static_cast<std::size_t>(options.samples);
    f.weights = Kokkos::subview(trained.weights, std::pair(*sample * each, (*sample + 1) * each));
  }
  f.rate = trained.rate;
  f.offset = trained.offset;
  embed_and_project(fitted.exec, b, f, read.batch.encoder(), kBatchOnly);
  return read;
}

}  // namespace fedpp::model
