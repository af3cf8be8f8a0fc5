#include "model/frozen_prediction.hpp"

#include <limits>

#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::model {

namespace {

constexpr std::uint32_t kFrozenRound = 0xFFFFFFFDu;  // keys of these draws, apart from the rounds' and the others'

}  // namespace

FrozenPrediction::FrozenPrediction(const std::vector<ClientPoints>& points, const PredictionOptions& options)
    : points_(points),
      options_(options),
      batch_(points, own_weights(points), options.samples, options.model.jitter, false, false) {}

std::vector<std::vector<RealisationPrediction>> FrozenPrediction::under(
    const std::vector<WeightPosterior>& weights) const {
  const gpu::Region region("fedpp::frozen_prediction");
  const auto& b = batch_.batch();
  const auto& f = batch_.fields();
  batch_.set_weights(weights);
  gpu::draw_weights(exec_, b, f, {options_.seed, kFrozenRound, 0, 0});
  gpu::embed(exec_, b, f, batch_.encoder(), kBatchOnly);
  gpu::factorise(exec_, b, f, gpu::kJitterLimit, kBatchOnly);
  gpu::features(exec_, b, f, kBatchOnly);
  exec_.fence();

  std::vector<double> moments, variance, log_intensities, intensities;  // [realisation][sample][columns]
  std::vector<int> info;
  gpu::to_host(f.projection, moments);
  gpu::to_host(f.variance, variance);
  gpu::to_host(f.info, info);
  const auto each_problem = [&](const auto& visit) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < points_.size(); ++k)
      for (int i = batch_.realisation_begin(static_cast<int>(k)); i < batch_.realisation_begin(static_cast<int>(k) + 1);
           ++i)
        for (int s = 0; s < options_.samples; ++s, at += static_cast<std::size_t>(batch_.columns(i)))
          visit(k, i, s, at);
  };
  std::vector<double> rates(moments.size());
  each_problem([&](std::size_t k, int i, int, std::size_t at) {
    for (int j = 0; j < batch_.columns(i); ++j) {
      moments[at + j] += points_[k].client->state.offset;
      rates[at + j] = points_[k].client->state.rate;
    }
  });
  const gpu::Array<double> log_intensity("log_intensity", moments.size()), intensity("intensity", moments.size());
  gpu::expected_intensity(exec_, gpu::to_device<double>("mean", moments), f.variance,
                          gpu::to_device<double>("rate", rates), log_intensity, intensity);
  exec_.fence();
  gpu::to_host(log_intensity, log_intensities);
  gpu::to_host(intensity, intensities);

  std::vector<std::vector<RealisationPrediction>> result(points_.size());
  each_problem([&](std::size_t k, int i, int s, std::size_t at) {
    const auto n = static_cast<std::size_t>(batch_.columns(i));
    const double share = 1.0 / options_.samples;
    if (s == 0) {
      RealisationPrediction p;
      p.rate = points_[k].client->state.rate;
      p.expected_log_intensity.assign(n, 0.0);
      p.expected_intensity.assign(n, 0.0);
      result[k].push_back(std::move(p));
    }
    auto& p = result[k].back();
    const bool failed = info[static_cast<std::size_t>(i) * options_.samples + s] != 0;
    const double valid = failed ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    p.mean.insert(p.mean.end(), moments.begin() + at, moments.begin() + at + n);
    p.variance.insert(p.variance.end(), variance.begin() + at, variance.begin() + at + n);
    for (std::size_t j = 0; j < n; ++j) {
      p.expected_log_intensity[j] += valid * share * log_intensities[at + j];
      p.expected_intensity[j] += valid * share * intensities[at + j];
    }
  });
  return result;
}

}  // namespace fedpp::model
