#include "model/fitted_posterior.hpp"

#include "model/projection.hpp"

namespace fedpp::model {

PointsRead read_points(const LatentPosterior::Fitted& fitted, const std::vector<ClientPoints>& points) {
  const auto& options = fitted.options;
  PointsRead read{ClientBatch(points, fitted.weights, {.samples = options.samples, .jitter = options.jitter}), {}};
  const auto& b = read.batch.batch();
  auto& f = read.fields = read.batch.fields();
  const auto& trained = fitted.trained->fields();
  f.v_mean = trained.v_mean;
  f.v_factor = trained.v_factor;
  f.weights = trained.weights;
  f.rate = trained.rate;
  f.offset = trained.offset;
  embed_and_project(fitted.exec, b, f, read.batch.encoder(), kBatchOnly);
  return read;
}

}  // namespace fedpp::model
