#include "model/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "config/error.hpp"
#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"
#include "model/client_batch.hpp"
#include "model/local_update.hpp"

namespace fedpp::model {

namespace {

constexpr std::uint32_t kPredictionRound = 0xFFFFFFFFu;  // keys of prediction's draws, apart from every round's

/// How f moves where nu does, for bands (PredictionOptions::bands): f(t) has the variance (1 - V'direction)^2 /
/// precision on top of q(v)'s.
struct LevelUncertainty {
  gpu::Array<double> direction;   ///< [vector] Sigma_v E_w[V information]: v gives way by as much as nu rises
  std::vector<double> precision;  ///< [clients] of nu, v integrated out
};

/// Moments at a set's points from the posterior of `trained`, which the new batch takes over with its weights' samples.
std::vector<RealisationPrediction> at_points(const gpu::Exec& exec, const ClientBatch& trained,
                                             const std::vector<ClientPoints>& points,
                                             const std::vector<WeightPosterior>& weights,
                                             const PredictionOptions& options, const std::vector<double>& rates,
                                             const LevelUncertainty* level) {
  const ClientBatch batch(points, weights, options.samples, options.model.jitter, false, false);
  const auto& b = batch.batch();
  const auto& f = batch.fields();
  Kokkos::deep_copy(exec, f.v_mean, trained.fields().v_mean);
  Kokkos::deep_copy(exec, f.v_factor, trained.fields().v_factor);
  Kokkos::deep_copy(exec, f.weights, trained.fields().weights);
  gpu::embed(exec, b, f, batch.encoder());
  gpu::factorise(exec, b, f);
  gpu::features(exec, b, f);
  gpu::moments(exec, b, f);
  std::vector<double> projection, variance;
  exec.fence();
  gpu::to_host(f.projection, projection);
  gpu::to_host(f.variance, variance);
  std::vector<double> offsets, moved;
  gpu::to_host(trained.fields().offset, offsets);
  if (level != nullptr) {
    Kokkos::deep_copy(exec, f.v_mean, level->direction);
    gpu::moments(exec, b, f);
    exec.fence();
    gpu::to_host(f.projection, moved);
  }

  std::vector<RealisationPrediction> result;
  std::size_t at = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (int i = batch.realisation_begin(static_cast<int>(k)); i < batch.realisation_begin(static_cast<int>(k) + 1);
         ++i) {
      const std::size_t n = batch.columns(i), all = n * options.samples;
      RealisationPrediction p;
      p.rate = rates[k];
      p.mean.assign(projection.begin() + at, projection.begin() + at + all);
      for (double& mean : p.mean) mean += offsets[k];
      p.variance.assign(variance.begin() + at, variance.begin() + at + all);
      for (std::size_t j = 0; j < all && level != nullptr; ++j)
        p.variance[j] += (1 - moved[at + j]) * (1 - moved[at + j]) / level->precision[k];
      at += all;
      const auto mean = gpu::to_device<double>("mean", p.mean), s = gpu::to_device<double>("variance", p.variance);
      const gpu::Array<double> log_intensity("log_intensity", all), intensity("intensity", all);
      gpu::expected_intensity(exec, mean, s, p.rate, log_intensity, intensity);
      exec.fence();
      std::vector<double> by_sample_log, by_sample;
      gpu::to_host(log_intensity, by_sample_log);
      gpu::to_host(intensity, by_sample);
      p.expected_log_intensity.assign(n, 0.0);
      p.expected_intensity.assign(n, 0.0);
      for (int sample = 0; sample < options.samples; ++sample)
        for (std::size_t j = 0; j < n; ++j) {
          p.expected_log_intensity[j] += by_sample_log[sample * n + j] / options.samples;
          p.expected_intensity[j] += by_sample[sample * n + j] / options.samples;
        }
      result.push_back(std::move(p));
    }
  }
  return result;
}

/// q(v) keeps its mean and gets the covariance of PredictionOptions::bands; returns what nu's uncertainty adds.
LevelUncertainty widen_to_expected_information(const gpu::Exec& exec, const ClientBatch& trained, int clients,
                                               int samples) {
  const auto& b = trained.batch();
  const auto& f = trained.fields();
  std::vector<double> projection, rate, offset, node_weight, mean;
  gpu::to_host(f.projection, projection);
  gpu::to_host(f.rate, rate);
  gpu::to_host(f.offset, offset);
  gpu::to_host(f.node_weight, node_weight);
  gpu::to_host(f.v_mean, mean);
  std::vector<double> information(node_weight.size()), response(node_weight.size());
  std::size_t column = 0, at = 0;
  for (int k = 0; k < clients; ++k)
    for (int i = trained.realisation_begin(k); i < trained.realisation_begin(k + 1); ++i) {
      const std::size_t n = trained.columns(i);
      for (std::size_t j = 0; j < n; ++j) {
        double f_mean = offset[k];
        for (int s = 0; s < samples; ++s) f_mean += projection[at + s * n + j] / samples;
        const double sigmoid = 1 / (1 + std::exp(-f_mean));
        information[column + j] = node_weight[column + j] * rate[k] * sigmoid * (1 - sigmoid) * (1 - sigmoid);
        response[column + j] = information[column + j] * (1 + offset[k]);  // the update takes off alpha nu
      }
      column += n;
      at += n * samples;
    }
  Kokkos::deep_copy(exec, f.alpha, gpu::to_device<double>("information", information));
  Kokkos::deep_copy(exec, f.beta, gpu::to_device<double>("response", response));
  gpu::update_variational(exec, b, f);
  LevelUncertainty level{gpu::Array<double>("direction", f.v_mean.extent(0)), {}};
  Kokkos::deep_copy(exec, level.direction, f.v_mean);
  gpu::moments(exec, b, f);
  exec.fence();
  gpu::to_host(f.projection, projection);
  Kokkos::deep_copy(exec, f.v_mean, gpu::to_device<double>("v_mean", mean));
  exec.fence();
  column = at = 0;
  for (int k = 0; k < clients; ++k) {
    double precision = 0;
    for (int i = trained.realisation_begin(k); i < trained.realisation_begin(k + 1); ++i) {
      const std::size_t n = trained.columns(i);
      for (std::size_t j = 0; j < n; ++j) {
        double moved = 0;
        for (int s = 0; s < samples; ++s) moved += projection[at + s * n + j] / samples;
        precision += information[column + j] * (1 - moved);
      }
      column += n;
      at += n * samples;
    }
    level.precision.push_back(std::max(precision, 1e-3));  // without data nu is anywhere: sd 30 says so
  }
  return level;
}

}  // namespace

std::vector<std::vector<std::vector<RealisationPrediction>>> predict(const std::vector<PredictionRequest>& requests,
                                                                     const WeightPosterior& prior,
                                                                     const PredictionOptions& options) {
  const gpu::Region region("fedpp::predict");
  const gpu::Exec exec;
  std::vector<std::vector<std::vector<RealisationPrediction>>> result(requests.size());
  std::vector<ClientPoints> training;
  for (const auto& r : requests) training.push_back({r.client, &r.client->training});
  for (const auto& [first, last] : blocks_of(training, options.samples, false, options.workspace_mb)) {
    std::vector<WeightPosterior> weights;
    for (int k = first; k < last; ++k) {
      const auto& state = requests[k].client->state;
      weights.push_back(state.started ? state.weights : prior);
    }
    const ClientBatch trained({training.begin() + first, training.begin() + last}, weights, options.samples,
                              options.model.jitter, false, false);
    const auto& b = trained.batch();
    const auto& f = trained.fields();
    gpu::draw_weights(exec, b, f, {options.seed, kPredictionRound, 0, 0});
    gpu::embed(exec, b, f, trained.encoder());
    gpu::factorise(exec, b, f);
    gpu::features(exec, b, f);
    for (int step = 0; step < options.e_steps; ++step) e_step(exec, b, f);
    exec.fence();
    std::optional<LevelUncertainty> level;
    if (options.bands && options.e_steps > 0)
      level = widen_to_expected_information(exec, trained, last - first, options.samples);
    std::vector<int> info;
    gpu::to_host(f.info, info);
    for (int k = first; k < last; ++k)
      for (int i = trained.realisation_begin(k - first); i < trained.realisation_begin(k - first + 1); ++i)
        for (int sample = 0; sample < options.samples; ++sample)
          if (info[static_cast<std::size_t>(i) * options.samples + sample] != 0)
            throw UserError(fmt::format(
                "client {}, realisation {}, sample {}: the Cholesky factorisation of K(z,z) fails at prediction even "
                "with a relative jitter of {:g}",
                requests[k].client->id, i - trained.realisation_begin(k - first), sample, gpu::kJitterLimit));
    std::vector<double> rates;
    gpu::to_host(f.rate, rates);

    const std::size_t sets = requests[first].points.size();
    for (std::size_t set = 0; set < sets; ++set) {
      std::vector<ClientPoints> points;
      for (int k = first; k < last; ++k) points.push_back({requests[k].client, requests[k].points[set]});
      auto predictions = at_points(exec, trained, points, weights, options, rates, level ? &*level : nullptr);
      std::size_t next = 0;
      for (int k = first; k < last; ++k) {
        result[k].emplace_back();
        for (std::size_t i = 0; i < requests[k].client->inducing.size(); ++i) {
          auto& prediction = predictions[next++];
          const auto finite = [](const std::vector<double>& values) {
            return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
          };
          if (!finite(prediction.expected_log_intensity) || !finite(prediction.expected_intensity))
            throw UserError(fmt::format(
                "client {}, realisation {}: the predicted intensity is not finite; the posterior of the weights is "
                "beyond what numbers hold",
                requests[k].client->id, i));
          result[k].back().push_back(std::move(prediction));
        }
      }
    }
  }
  return result;
}

double intensity_quantile(const RealisationPrediction& prediction, std::size_t point, std::size_t points, double q) {
  const std::size_t samples = prediction.mean.size() / points;
  double low = 1e300, high = -1e300;
  for (std::size_t s = 0; s < samples; ++s) {
    const double mean = prediction.mean[s * points + point], sd = std::sqrt(prediction.variance[s * points + point]);
    low = std::min(low, mean - 10 * sd - 1e-9);
    high = std::max(high, mean + 10 * sd + 1e-9);
  }
  for (int step = 0; step < 100 && high - low > 1e-10; ++step) {
    const double x = 0.5 * (low + high);
    double below = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      const double mean = prediction.mean[s * points + point], sd = std::sqrt(prediction.variance[s * points + point]);
      below += sd > 0 ? 0.5 * std::erfc((mean - x) / (sd * std::numbers::sqrt2)) : (x >= mean ? 1.0 : 0.0);
    }
    (below < q * static_cast<double>(samples) ? low : high) = x;
  }
  return prediction.rate / (1 + std::exp(-0.5 * (low + high)));
}

}  // namespace fedpp::model
