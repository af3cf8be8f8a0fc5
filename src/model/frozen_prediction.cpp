#include "model/frozen_prediction.hpp"

#include <limits>

#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"
#include "model/draw_keys.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

FrozenPrediction::FrozenPrediction(const std::vector<ClientPoints>& points, const PredictionOptions& options)
    : points_(points),
      options_(options),
      batch_(points, own_weights(points), {.samples = options.samples, .jitter = options.jitter}) {}

std::vector<std::vector<RealisationPrediction>> FrozenPrediction::under(
    const std::vector<WeightPosterior>& weights) const {
  const gpu::Region region("fedpp::frozen_prediction");
  const auto& b = batch_.batch();
  const auto& f = batch_.fields();
  batch_.set_weights(weights);
  gpu::draw_weights(exec_, b, f, {options_.seed, kFrozenRound, 0, 0});
  embed_and_project(exec_, b, f, batch_.encoder(), kBatchOnly);
  const auto expected = gpu::expected_intensity(exec_, b, f);
  exec_.fence();
  std::vector<double> log_intensity, intensity;
  std::vector<int> info;
  gpu::to_host(expected.log_intensity, log_intensity);
  gpu::to_host(expected.intensity, intensity);
  gpu::to_host(f.info, info);

  std::vector<std::vector<RealisationPrediction>> result(points_.size());
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const int begin = batch_.realisation_begin(static_cast<int>(k));
    const int end = batch_.realisation_begin(static_cast<int>(k) + 1);
    const bool failed = batch_.failed_factor(static_cast<int>(k), info).has_value();
    for (int i = begin; i < end; ++i) {
      const auto of_realisation = [&](const std::vector<double>& values) {
        const auto first = values.begin() + batch_.column_offset(i);
        return failed ? std::vector<double>(batch_.columns(i), std::numeric_limits<double>::quiet_NaN())
                      : std::vector<double>(first, first + batch_.columns(i));
      };
      RealisationPrediction p;
      p.rate = points_[k].client->state.rate;
      p.expected_log_intensity = of_realisation(log_intensity);
      p.expected_intensity = of_realisation(intensity);
      result[k].push_back(std::move(p));
    }
  }
  return result;
}

}  // namespace fedpp::model
