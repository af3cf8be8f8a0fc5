// Moments of the latent function and expectations of the intensity at points (theory 1.8), slice by slice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"
#include "model/fitted_posterior.hpp"
#include "model/point_slices.hpp"

namespace fedpp::model {

namespace {

/// What the kernels say of some points: [S][N+Q] of each realisation in turn, or [N+Q].
struct PointMoments {
  std::vector<double> projection, variance;        ///< of each sample of the weights; empty without options.moments
  std::vector<double> log_intensity, intensity;    ///< expected
  std::vector<double> offset;                      ///< [clients] nu
  std::array<std::vector<double>, 2> along_level;  ///< V'direction of nu and log m; empty without bands
};

PointMoments moments_at(const LatentPosterior::Fitted& fitted, const PointsRead& read) {
  const auto& b = read.batch.batch();
  const auto& f = read.fields;
  const auto expected = gpu::expected_intensity(fitted.exec, b, f);
  fitted.exec.fence();
  PointMoments moments;
  if (fitted.options.moments) {
    gpu::to_host(f.projection, moments.projection);
    gpu::to_host(f.variance, moments.variance);
  }
  gpu::to_host(expected.log_intensity, moments.log_intensity);
  gpu::to_host(expected.intensity, moments.intensity);
  gpu::to_host(f.offset, moments.offset);
  if (fitted.level) moments.along_level = along_directions(fitted.exec, b, f, *fitted.level);
  return moments;
}

/// Of client k's realisation whose `columns` points begin at `column`, and over the samples of the weights at `at`.
RealisationPrediction prediction_of(const LatentPosterior::Fitted& fitted, const PointMoments& moments, std::size_t k,
                                    std::size_t column, std::size_t at, std::size_t columns) {
  const auto part = [](const std::vector<double>& values, std::size_t begin, std::size_t count) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const std::size_t all = columns * fitted.options.samples;
  RealisationPrediction p;
  p.rate = fitted.rates[k];
  p.expected_log_intensity = part(moments.log_intensity, column, columns);
  p.expected_intensity = part(moments.intensity, column, columns);
  if (!fitted.options.moments) return p;
  p.mean = part(moments.projection, at, all);
  for (double& mean : p.mean) mean += moments.offset[k];
  p.variance = part(moments.variance, at, all);
  if (!fitted.level) return p;
  p.level_variance.reserve(all);
  const auto& [along_offset, along_rate] = moments.along_level;
  for (std::size_t j = 0; j < all; ++j)
    p.level_variance.push_back(
        level_variance(p.mean[j], along_offset[at + j], along_rate[at + j], fitted.level->covariance[k]));
  return p;
}

/// All realisations of the clients in turn.
std::vector<RealisationPrediction> predictions_at(const LatentPosterior::Fitted& fitted,
                                                  const std::vector<ClientPoints>& points) {
  const PointsRead read = read_points(fitted, points);
  const PointMoments moments = moments_at(fitted, read);
  std::vector<RealisationPrediction> result;
  std::size_t at = 0, column = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const int end = read.batch.realisation_begin(static_cast<int>(k) + 1);
    for (int i = read.batch.realisation_begin(static_cast<int>(k)); i < end; ++i) {
      const std::size_t columns = read.batch.columns(i);
      result.push_back(prediction_of(fitted, moments, k, column, at, columns));
      column += columns;
      at += columns * fitted.options.samples;
    }
  }
  return result;
}

/// Some points of a realisation of so many columns, into their places.
void place(RealisationPrediction part, const PointsOf& points, std::size_t columns, std::size_t samples,
           RealisationPrediction& whole) {
  const std::size_t count = points.last - points.first;
  if (count == columns) {
    whole = std::move(part);
    return;
  }
  const auto into = [&](const std::vector<double>& from, std::vector<double>& to, std::size_t rows) {
    if (from.empty()) return;
    to.resize(rows * columns);
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * count), count,
                  to.begin() + static_cast<std::ptrdiff_t>(row * columns + points.first));
  };
  whole.rate = part.rate;
  into(part.expected_log_intensity, whole.expected_log_intensity, 1);
  into(part.expected_intensity, whole.expected_intensity, 1);
  into(part.mean, whole.mean, samples);
  into(part.variance, whole.variance, samples);
  into(part.level_variance, whole.level_variance, samples);
}

void require_finite(const RealisationPrediction& prediction, std::int64_t client, std::size_t realisation) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  if (!finite(prediction.expected_log_intensity) || !finite(prediction.expected_intensity))
    throw PredictionError(
        fmt::format("client {}, realisation {}: the predicted intensity is not finite; the posterior of the weights is "
                    "beyond what numbers hold",
                    client, realisation));
}

}  // namespace

std::vector<std::vector<RealisationPrediction>> LatentPosterior::at(
    const std::vector<const std::vector<data::Realisation>*>& points) const {
  const auto& fitted = *fitted_;
  std::vector<ClientPoints> wanted, all;
  std::vector<std::vector<data::Realisation>> asked(points.size());  // those of a slice; of the others streams alone
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (const auto& r : *points[k]) asked[k].emplace_back().streams = r.streams;
    wanted.push_back({fitted.clients[k], points[k]});
    all.push_back({fitted.clients[k], &asked[k]});
  }
  std::vector<std::vector<RealisationPrediction>> result(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) result[k].resize(points[k]->size());
  for (const auto& slice : slices_of(wanted, fitted.options)) {
    for (const auto& part : slice)
      asked[part.client][part.realisation] = part_of((*points[part.client])[part.realisation], part);
    auto predictions = predictions_at(fitted, all);
    std::size_t before = 0;  // realisations of the clients before k
    for (std::size_t k = 0, next = 0; k < asked.size(); before += asked[k++].size())
      for (; next < slice.size() && slice[next].client == k; ++next) {
        const std::size_t i = slice[next].realisation;
        const auto& realisation = (*points[k])[i];
        place(std::move(predictions[before + i]), slice[next], realisation.events.size() + realisation.nodes.size(),
              fitted.options.samples, result[k][i]);
        asked[k][i] = {};
        asked[k][i].streams = realisation.streams;
      }
  }
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t i = 0; i < points[k]->size(); ++i) require_finite(result[k][i], fitted.clients[k]->id, i);
  return result;
}

}  // namespace fedpp::model
