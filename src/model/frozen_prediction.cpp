#include "model/frozen_prediction.hpp"

#include <limits>

#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"
#include "model/client_batch.hpp"
#include "model/draw_keys.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

struct FrozenPrediction::Block {
  std::vector<ClientPoints> points;
  std::uint64_t seed;
  gpu::Exec exec;
  ClientBatch batch;

  Block(const std::vector<ClientPoints>& all, const PredictionOptions& options)
      : points(all),
        seed(options.seed),
        batch(all, own_weights(all), {.samples = options.samples, .jitter = options.jitter}) {}
};

FrozenPrediction::FrozenPrediction(const std::vector<ClientPoints>& points, const PredictionOptions& options)
    : block_(std::make_unique<Block>(points, options)) {}
FrozenPrediction::~FrozenPrediction() = default;

std::vector<std::vector<RealisationPrediction>> FrozenPrediction::under(
    const std::vector<WeightPosterior>& weights) const {
  const gpu::Region region("fedpp::frozen_prediction");
  const auto& points = block_->points;
  const auto& exec = block_->exec;
  const auto& batch = block_->batch;
  const auto& b = batch.batch();
  const auto& f = batch.fields();
  batch.set_weights(weights);
  gpu::draw_weights(exec, b, f, {block_->seed, kFrozenRound, 0, 0});
  embed_and_project(exec, b, f, batch.encoder(), kBatchOnly);
  const auto expected = gpu::expected_intensity(exec, b, f);
  exec.fence();
  std::vector<double> log_intensity, intensity;
  std::vector<int> info;
  gpu::to_host(expected.log_intensity, log_intensity);
  gpu::to_host(expected.intensity, intensity);
  gpu::to_host(f.info, info);

  std::vector<std::vector<RealisationPrediction>> result(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const int begin = batch.realisation_begin(static_cast<int>(k));
    const int end = batch.realisation_begin(static_cast<int>(k) + 1);
    const bool failed = batch.failed_factor(static_cast<int>(k), info).has_value();
    for (int i = begin; i < end; ++i) {
      const auto of_realisation = [&](const std::vector<double>& values) {
        const auto first = values.begin() + batch.column_offset(i);
        return failed ? std::vector<double>(batch.columns(i), std::numeric_limits<double>::quiet_NaN())
                      : std::vector<double>(first, first + batch.columns(i));
      };
      RealisationPrediction p;
      p.rate = points[k].client->state.rate;
      p.expected_log_intensity = of_realisation(log_intensity);
      p.expected_intensity = of_realisation(intensity);
      result[k].push_back(std::move(p));
    }
  }
  return result;
}

}  // namespace fedpp::model
