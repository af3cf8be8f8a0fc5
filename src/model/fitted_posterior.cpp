#include "model/fitted_posterior.hpp"

#include "gpu/kernels.hpp"

namespace fedpp::model {

PointsRead read_points(const LatentPosterior::Fitted& fitted, const std::vector<ClientPoints>& points) {
  const auto& options = fitted.options;
  PointsRead read{ClientBatch(points, fitted.weights, options.samples, options.model.jitter, false, false), {}};
  const auto& b = read.batch.batch();
  auto& f = read.fields = read.batch.fields();
  const auto& trained = fitted.trained->fields();
  f.v_mean = trained.v_mean;
  f.v_factor = trained.v_factor;
  f.weights = trained.weights;
  f.rate = trained.rate;
  f.offset = trained.offset;
  gpu::embed(fitted.exec, b, f, read.batch.encoder(), kBatchOnly);
  gpu::factorise(fitted.exec, b, f, gpu::kJitterLimit, kBatchOnly);
  gpu::features(fitted.exec, b, f, kBatchOnly);
  return read;
}

}  // namespace fedpp::model
