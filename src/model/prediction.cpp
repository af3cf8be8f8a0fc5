#include "model/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "config/error.hpp"
#include "gpu/arrays.hpp"
#include "gpu/averages.hpp"
#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"
#include "gpu/runtime.hpp"
#include "model/draw_keys.hpp"
#include "model/fitted_posterior.hpp"
#include "model/local_update.hpp"

namespace fedpp::model {

namespace {

// Priors of bands. nu: levels sigma(nu) from 4 to 96 % of m; beyond, m sigma(f) is one function for many pairs (m, nu)
// (m to infinity, nu to minus infinity) or a constant that nothing but nu forbids to vary. log m: so wide that it
// speaks only where there are no data.
constexpr double kOffsetSd = 2, kLogRateSd = 10;

/// Doubles of a client's averages over the samples of the weights.
gpu::Index average_doubles(const Client& client) {
  gpu::Index doubles = 0;
  for (const auto& extent : extents_of({&client, &client.training})) doubles += gpu::average_doubles(extent);
  return doubles;
}

/// The same arrays, but projections are V' mu_v alone.
gpu::Fields without_trend(gpu::Fields fields) {
  const auto n = static_cast<gpu::Index>(fields.trend.extent(0));
  gpu::ArraySet<double> doubles;
  doubles.zeros("no_trend", fields.trend, n);
  doubles.make("no_trend");
  return fields;
}

}  // namespace

PointsRead read_points(const gpu::Exec& exec, const ClientBatch& trained, const std::vector<ClientPoints>& points,
                       const std::vector<WeightPosterior>& weights, const PredictionOptions& options) {
  PointsRead read{ClientBatch(points, weights, options.samples, options.model.jitter, false, false), {}};
  const auto& b = read.batch.batch();
  auto& f = read.fields = read.batch.fields();
  f.v_mean = trained.fields().v_mean;
  f.v_factor = trained.fields().v_factor;
  f.weights = trained.fields().weights;
  f.rate = trained.fields().rate;
  f.offset = trained.fields().offset;
  gpu::embed(exec, b, f, read.batch.encoder(), kBatchOnly);
  gpu::factorise(exec, b, f, gpu::kJitterLimit, kBatchOnly);
  gpu::features(exec, b, f, kBatchOnly);
  return read;
}

namespace {

/// Moments and expectations at a set's points from the posterior of `trained`.
std::vector<RealisationPrediction> at_points(const gpu::Exec& exec, const ClientBatch& trained,
                                             const std::vector<ClientPoints>& points,
                                             const std::vector<WeightPosterior>& weights,
                                             const PredictionOptions& options, const std::vector<double>& rates,
                                             const LevelUncertainty* level) {
  const auto [batch, f] = read_points(exec, trained, points, weights, options);
  const auto& b = batch.batch();
  const auto expected = gpu::expected_intensity(exec, b, f);
  exec.fence();
  std::vector<double> projection, variance, log_intensities, intensities, offsets;
  gpu::to_host(f.projection, projection);
  gpu::to_host(f.variance, variance);
  gpu::to_host(expected.log_intensity, log_intensities);
  gpu::to_host(expected.intensity, intensities);
  gpu::to_host(f.offset, offsets);
  std::array<std::vector<double>, 2> moved;
  if (level != nullptr) {
    gpu::Fields direction = without_trend(f);
    for (const int i : {0, 1}) {
      direction.v_mean = level->direction[i];
      gpu::moments(exec, b, direction);
      exec.fence();
      gpu::to_host(f.projection, moved[i]);
    }
  }

  std::vector<RealisationPrediction> result;
  std::size_t at = 0, column = 0;
  const auto part = [](const std::vector<double>& values, std::size_t begin, std::size_t count) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(count));
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (int i = batch.realisation_begin(static_cast<int>(k)); i < batch.realisation_begin(static_cast<int>(k) + 1);
         ++i) {
      const std::size_t n = batch.columns(i), all = n * options.samples;
      RealisationPrediction p;
      p.rate = rates[k];
      p.expected_log_intensity = part(log_intensities, column, n);
      p.expected_intensity = part(intensities, column, n);
      p.mean = part(projection, at, all);
      for (double& mean : p.mean) mean += offsets[k];
      p.variance = part(variance, at, all);
      if (level != nullptr) p.level_variance.assign(all, 0.0);
      for (std::size_t j = 0; j < p.level_variance.size(); ++j) {
        const double slope = 1 / (1 + std::exp(p.mean[j]));  // d log lambda/d f
        const double to_offset = slope * (1 - moved[0][at + j]), to_rate = 1 - slope * moved[1][at + j];
        const auto& [nn, nm, mm] = level->covariance[k];
        p.level_variance[j] = to_offset * to_offset * nn + 2 * to_offset * to_rate * nm + to_rate * to_rate * mm;
      }
      column += n;
      at += all;
      result.push_back(std::move(p));
    }
  }
  return result;
}

/// Bytes that a realisation's points take.
double point_bytes(const Client& client, const gpu::RealisationExtent& extent, int samples) {
  const gpu::ClientExtent sizes{samples, client.embedding.encoder};
  gpu::RealisationExtent none = extent;
  none.columns = 0;
  return static_cast<double>(sizeof(double)) *
         static_cast<double>(gpu::field_doubles(sizes, extent, false) - gpu::field_doubles(sizes, none, false));
}

/// Points are read in slices of whole realisations, of so many bytes or of one realisation: those of windows that are
/// scored with a history are many times the training's. A host's work space is a cache's, too little for a slice, each
/// of which makes the arrays of all histories anew.
double slice_bytes(const PredictionOptions& options) {
  return (gpu::on_host() ? 8e6 : 0.5e6) * gpu::workspace_mb(options.workspace_mb);
}

/// visit(client, column, mean over the samples of the weights) of values [S][N+Q] of each realisation in turn.
template <class Visit>
void for_each_column(const ClientBatch& trained, int clients, int samples, const std::vector<double>& values,
                     const Visit& visit) {
  std::size_t column = 0, at = 0;
  for (int k = 0; k < clients; ++k)
    for (int i = trained.realisation_begin(k); i < trained.realisation_begin(k + 1); ++i) {
      const std::size_t n = trained.columns(i);
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int s = 0; s < samples; ++s) sum += values[at + s * n + j] / samples;
        visit(k, column + j, sum);
      }
      column += n;
      at += n * samples;
    }
}

/// The prior of bands is on the level of f, nu + a'h over the windows: nu's is centred on less the mean of a'h.
void center_offsets(const ClientBatch& trained, int clients, int samples) {
  const auto& f = trained.fields();
  std::vector<double> trend, node_weight, sum(clients, 0.0), exposure(clients, 0.0), center;
  gpu::to_host(f.trend, trend);
  gpu::to_host(f.node_weight, node_weight);
  for_each_column(trained, clients, samples, trend, [&](int k, std::size_t c, double mean) {
    sum[k] += node_weight[c] * mean;
    exposure[k] += node_weight[c];
  });
  for (int k = 0; k < clients; ++k) center.push_back(exposure[k] > 0 ? -sum[k] / exposure[k] : 0.0);
  gpu::copy_to(f.offset_center, center);
}

/// E-steps under nu's prior start no further out than its sd: they come back slowly from where nu ran away.
void bring_offsets_back(const ClientBatch& trained) {
  std::vector<double> offset, center;
  gpu::to_host(trained.fields().offset, offset);
  gpu::to_host(trained.fields().offset_center, center);
  for (std::size_t k = 0; k < offset.size(); ++k)
    offset[k] = std::clamp(offset[k], center[k] - kOffsetSd, center[k] + kOffsetSd);
  gpu::copy_to(trained.fields().offset, offset);
}

/// q(v) keeps its mean and gets the covariance of PredictionOptions::bands; returns what nu and m add.
LevelUncertainty widen_to_expected_information(const gpu::Exec& exec, const ClientBatch& trained, int clients,
                                               int samples) {
  const auto& b = trained.batch();
  const gpu::Fields f = without_trend(trained.fields());  // for directions; what E-steps left is with it
  std::vector<double> projection, rate, offset, node_weight, mean;
  gpu::to_host(f.projection, projection);
  gpu::to_host(f.rate, rate);
  gpu::to_host(f.offset, offset);
  gpu::to_host(f.node_weight, node_weight);
  gpu::to_host(f.v_mean, mean);

  // Expected counts w = omega lambda and slopes d log lambda/d f = 1 - sigma; d log lambda/d log m = 1.
  const std::size_t columns = node_weight.size();
  std::vector<double> count(columns), slope(columns), information(columns);
  std::array<std::vector<double>, 2> response{std::vector<double>(columns), std::vector<double>(columns)};
  for_each_column(trained, clients, samples, projection, [&](int k, std::size_t c, double v) {
    const double sigmoid = 1 / (1 + std::exp(-(offset[k] + v)));
    count[c] = node_weight[c] * rate[k] * sigmoid;
    slope[c] = 1 - sigmoid;
    information[c] = count[c] * slope[c] * slope[c];
    response[0][c] = information[c] + information[c] * offset[k];  // the update takes off alpha nu
    response[1][c] = count[c] * slope[c] + information[c] * offset[k];
  });
  gpu::copy_to(f.alpha, information);

  LevelUncertainty level;
  std::vector<std::array<double, 3>> precision(
      clients, {1 / (kOffsetSd * kOffsetSd), 0.0, 1 / (kLogRateSd * kLogRateSd)});  // of phi, v integrated out
  for (const int i : {0, 1}) {
    gpu::copy_to(f.beta, response[i]);
    gpu::update_variational(exec, b, f);
    level.direction[i] = gpu::Array<double>("direction", f.v_mean.extent(0));
    Kokkos::deep_copy(exec, level.direction[i], f.v_mean);
    gpu::moments(exec, b, f);
    exec.fence();
    gpu::to_host(f.projection, projection);
    for_each_column(trained, clients, samples, projection, [&](int k, std::size_t c, double moved) {
      if (i == 0) {
        precision[k][0] += information[c] * (1 - moved);
        precision[k][1] += count[c] * slope[c] * (1 - moved);
      } else {
        precision[k][2] += count[c] * (1 - slope[c] * moved);
      }
    });
  }
  gpu::copy_to(f.v_mean, mean);
  exec.fence();
  for (const auto& [nn, nm, mm] : precision) {
    const double determinant = nn * mm - nm * nm;
    level.covariance.push_back({mm / determinant, -nm / determinant, nn / determinant});
  }
  return level;
}

}  // namespace

bool on_averages(const Client& client, const PredictionOptions& options) {
  gpu::Index averages = 0, v = 0;
  for (const auto& extent : extents_of({&client, &client.training})) {
    averages += gpu::average_doubles(extent);
    v += static_cast<gpu::Index>(options.samples) * extent.inducing * extent.columns;
  }
  return gpu::averages_pay(options.samples, options.e_steps, averages, v);
}

LatentPosterior::LatentPosterior(std::vector<const Client*> clients, const Priors& priors,
                                 const PredictionOptions& options, bool averaged)
    : fitted_(std::make_unique<Fitted>()) {
  auto& fitted = *fitted_;
  fitted.options = options;
  fitted.clients = std::move(clients);
  std::vector<ClientPoints> training;
  for (const Client* client : fitted.clients) {
    training.push_back({client, &client->training});
    fitted.weights.push_back(client->state.started ? client->state.weights : priors.of(client->id));
  }
  const auto& exec = fitted.exec;
  const auto& trained =
      fitted.trained.emplace(training, fitted.weights, options.samples, options.model.jitter, false, false);
  const auto& b = trained.batch();
  const auto& f = trained.fields();
  gpu::draw_weights(exec, b, f, {options.seed, kPredictionRound, 0, 0});
  gpu::embed(exec, b, f, trained.encoder());
  gpu::factorise(exec, b, f);
  gpu::features(exec, b, f);
  const bool bands = options.bands && options.e_steps > 0;
  const int count = static_cast<int>(fitted.clients.size());
  if (bands) {
    exec.fence();
    center_offsets(trained, count, options.samples);
    bring_offsets_back(trained);
  }
  const double offset_precision = bands ? 1 / (kOffsetSd * kOffsetSd) : 0;
  (averaged ? averaged_e_steps : e_steps)(exec, b, f, options.e_steps, offset_precision);
  if (bands && averaged) gpu::moments(exec, b, f);  // of every sample
  exec.fence();
  if (bands) fitted.level = widen_to_expected_information(exec, trained, count, options.samples);
  if (options.bands) {
    gpu::to_host(f.v_mean, fitted.v_mean);
    gpu::to_host(f.v_factor, fitted.v_factor);
  }
  std::vector<int> info;
  gpu::to_host(f.info, info);
  for (int k = 0; k < count; ++k)
    for (int i = trained.realisation_begin(k); i < trained.realisation_begin(k + 1); ++i)
      for (int sample = 0; sample < options.samples; ++sample)
        if (info[static_cast<std::size_t>(i) * options.samples + sample] != 0)
          throw PredictionError(fmt::format(
              "client {}, realisation {}, sample {}: the Cholesky factorisation of K(z,z) fails at prediction even "
              "with a relative jitter of {:g}",
              fitted.clients[k]->id, i - trained.realisation_begin(k), sample, gpu::kJitterLimit));
  gpu::to_host(f.rate, fitted.rates);
}

LatentPosterior::~LatentPosterior() = default;
LatentPosterior::LatentPosterior(LatentPosterior&&) noexcept = default;

std::vector<std::vector<RealisationPrediction>> LatentPosterior::at(
    const std::vector<const std::vector<data::Realisation>*>& points) const {
  const auto& fitted = *fitted_;
  const double room = slice_bytes(fitted.options);
  std::vector<std::vector<data::Realisation>> asked(points.size());  // those of a slice; of the others streams alone
  std::vector<ClientPoints> all;
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (const auto& r : *points[k]) asked[k].emplace_back().streams = r.streams;
    all.push_back({fitted.clients[k], &asked[k]});
  }
  std::vector<std::vector<RealisationPrediction>> result(points.size());
  std::vector<std::pair<std::size_t, std::size_t>> slice;  // client, realisation
  const auto read_slice = [&] {
    auto predictions = at_points(fitted.exec, *fitted.trained, all, fitted.weights, fitted.options, fitted.rates,
                                 fitted.level ? &*fitted.level : nullptr);
    std::size_t before = 0;  // realisations of the clients before k
    for (std::size_t k = 0, next = 0; k < asked.size(); before += asked[k++].size())
      for (; next < slice.size() && slice[next].first == k; ++next) {
        const std::size_t i = slice[next].second;
        result[k].push_back(std::move(predictions[before + i]));
        asked[k][i] = {};
        asked[k][i].streams = (*points[k])[i].streams;
      }
    slice.clear();
  };
  double used = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto extents = extents_of({fitted.clients[k], points[k]});
    for (std::size_t i = 0; i < points[k]->size(); ++i) {
      const double bytes = point_bytes(*fitted.clients[k], extents[i], fitted.options.samples);
      if (used + bytes > room && !slice.empty()) {
        read_slice();
        used = 0;
      }
      asked[k][i] = (*points[k])[i];
      slice.emplace_back(k, i);
      used += bytes;
    }
  }
  read_slice();
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t i = 0; i < points[k]->size(); ++i) {
      const auto& prediction = result[k][i];
      const auto finite = [](const std::vector<double>& values) {
        return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
      };
      if (!finite(prediction.expected_log_intensity) || !finite(prediction.expected_intensity))
        throw PredictionError(fmt::format(
            "client {}, realisation {}: the predicted intensity is not finite; the posterior of the weights is "
            "beyond what numbers hold",
            fitted.clients[k]->id, i));
    }
  return result;
}

double prediction_bytes(const PredictionRequest& request, const PredictionOptions& options) {
  const auto of = [&](const std::vector<data::Realisation>& points) {
    const ClientPoints at{request.client, &points};
    return array_bytes({&at, 1}, options.samples, /*with_gradient=*/false);
  };
  double most = 0;
  for (const auto* points : request.points) {
    double all = 0, largest = 0;
    for (const auto& extent : extents_of({request.client, points})) {
      const double bytes = point_bytes(*request.client, extent, options.samples);
      all += bytes;
      largest = std::max(largest, bytes);
    }
    most = std::max(most, of(*points) - all + std::min(all, std::max(largest, slice_bytes(options))));
  }
  double averages = 0;
  if (on_averages(*request.client, options))
    averages = static_cast<double>(average_doubles(*request.client) * sizeof(double));
  // On a host the averages are gone when the points come; a device may keep both (gpu::Reserve).
  return of(request.client->training) + (gpu::on_host() ? std::max(most, averages) : most + averages);
}

std::vector<std::vector<std::vector<RealisationPrediction>>> predict(const std::vector<PredictionRequest>& requests,
                                                                     const Priors& priors,
                                                                     const PredictionOptions& options) {
  const gpu::Region region("fedpp::predict");
  std::vector<std::vector<std::vector<RealisationPrediction>>> result(requests.size());
  const auto predict_block = [&](std::span<const int> of, bool averaged) {
    std::vector<const Client*> clients;
    for (const int k : of) clients.push_back(requests[k].client);
    const LatentPosterior posterior(std::move(clients), priors, options, averaged);
    for (std::size_t set = 0; set < requests[of.front()].points.size(); ++set) {
      std::vector<const std::vector<data::Realisation>*> points;
      for (const int k : of) points.push_back(requests[k].points[set]);
      auto read = posterior.at(points);
      for (std::size_t j = 0; j < of.size(); ++j) result[of[j]].push_back(std::move(read[j]));
    }
  };
  std::vector<int> chosen[2];
  for (std::size_t k = 0; k < requests.size(); ++k)
    chosen[on_averages(*requests[k].client, options)].push_back(static_cast<int>(k));
  for (const bool averaged : {false, true}) {
    const auto& of = chosen[averaged];
    std::vector<double> bytes;
    for (const int k : of) bytes.push_back(prediction_bytes(requests[k], options));
    double room = gpu::workspace_mb(options.workspace_mb);
    if (averaged && gpu::on_host()) room = std::min(room, gpu::workspace_mb(0));  // steps stay in a cache
    for (const auto& [first, last] : blocks_of(bytes, room))
      predict_block(std::span(of).subspan(first, last - first), averaged);
  }
  return result;
}

}  // namespace fedpp::model
