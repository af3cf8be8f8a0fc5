#include "model/level_uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/arrays.hpp"
#include "gpu/expectation.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::model {

namespace {

/// The same arrays, but projections are V' mu_v alone.
gpu::Fields without_trend(gpu::Fields fields) {
  const auto n = static_cast<gpu::Index>(fields.trend.extent(0));
  gpu::ArraySet<double> doubles;
  doubles.zeros("no_trend", fields.trend, n);
  doubles.make("no_trend");
  return fields;
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

/// Of the training points at the posterior mean, [column] each.
struct ExpectedInformation {
  std::vector<double> count, slope, information;  ///< w, 1 - sigma, w (1 - sigma)^2
  std::array<std::vector<double>, 2> response;    ///< that v shares with nu and log m, as q(v)'s update takes it
};

/// \param fields whose projections are those that the E-steps left, with the trend
ExpectedInformation expected_information(const ClientBatch& trained, const gpu::Fields& fields, int clients,
                                         int samples) {
  std::vector<double> projection, rate, offset, node_weight;
  gpu::to_host(fields.projection, projection);
  gpu::to_host(fields.rate, rate);
  gpu::to_host(fields.offset, offset);
  gpu::to_host(fields.node_weight, node_weight);
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
  return {std::move(count), std::move(slope), std::move(information), std::move(response)};
}

/// Of a symmetric matrix of two rows: its first, second (off the diagonal) and last element.
std::array<double, 3> inverse_of(const std::array<double, 3>& matrix) {
  const auto& [nn, nm, mm] = matrix;
  const double determinant = nn * mm - nm * nm;
  return {mm / determinant, -nm / determinant, nn / determinant};
}

}  // namespace

void start_under_offset_prior(const ClientBatch& trained, int clients, int samples) {
  center_offsets(trained, clients, samples);
  bring_offsets_back(trained);
}

void match_rates_to_events(const gpu::Exec& exec, const ClientBatch& trained, int clients) {
  const auto& f = trained.fields();
  const auto expected = gpu::expected_intensity(exec, trained.batch(), f);
  exec.fence();
  std::vector<double> intensity, multiplicity, node_weight, least_events, rate;
  gpu::to_host(expected.intensity, intensity);
  gpu::to_host(f.multiplicity, multiplicity);
  gpu::to_host(f.node_weight, node_weight);
  gpu::to_host(f.least_events, least_events);
  gpu::to_host(f.rate, rate);
  std::size_t column = 0;
  for (int k = 0; k < clients; ++k) {
    double events = 0, exposure = 0, compensator = 0;
    for (int i = trained.realisation_begin(k); i < trained.realisation_begin(k + 1); ++i)
      for (const std::size_t end = column + trained.columns(i); column < end; ++column) {
        events += multiplicity[column];
        exposure += node_weight[column];
        compensator += node_weight[column] * intensity[column];
      }
    if (compensator > 0) rate[k] = std::max(rate[k] * events / compensator, least_events[k] / exposure);
  }
  gpu::copy_to(f.rate, rate);
}

LevelUncertainty widen_to_expected_information(const gpu::Exec& exec, const ClientBatch& trained, int clients,
                                               int samples) {
  const auto& b = trained.batch();
  const gpu::Fields f = without_trend(trained.fields());  // for directions; what E-steps left is with it
  const auto of_points = expected_information(trained, f, clients, samples);
  std::vector<double> mean, projection;
  gpu::to_host(f.v_mean, mean);
  gpu::copy_to(f.alpha, of_points.information);

  LevelUncertainty level;
  std::vector<std::array<double, 3>> precision(
      clients, {1 / (kOffsetSd * kOffsetSd), 0.0, 1 / (kLogRateSd * kLogRateSd)});  // of phi, v integrated out
  for (const int i : {0, 1}) {
    gpu::copy_to(f.beta, of_points.response[i]);
    gpu::update_variational(exec, b, f);
    level.direction[i] = gpu::Array<double>("direction", f.v_mean.extent(0));
    Kokkos::deep_copy(exec, level.direction[i], f.v_mean);
    gpu::moments(exec, b, f);
    exec.fence();
    gpu::to_host(f.projection, projection);
    for_each_column(trained, clients, samples, projection, [&](int k, std::size_t c, double moved) {
      if (i == 0) {
        precision[k][0] += of_points.information[c] * (1 - moved);
        precision[k][1] += of_points.count[c] * of_points.slope[c] * (1 - moved);
      } else {
        precision[k][2] += of_points.count[c] * (1 - of_points.slope[c] * moved);
      }
    });
  }
  gpu::copy_to(f.v_mean, mean);
  exec.fence();
  for (const auto& of_client : precision) level.covariance.push_back(inverse_of(of_client));
  return level;
}

std::array<std::vector<double>, 2> along_directions(const gpu::Exec& exec, const gpu::Batch& batch,
                                                    const gpu::Fields& fields, const LevelUncertainty& level) {
  std::array<std::vector<double>, 2> along;
  gpu::Fields direction = without_trend(fields);
  for (const int i : {0, 1}) {
    direction.v_mean = level.direction[i];
    gpu::moments(exec, batch, direction);
    exec.fence();
    gpu::to_host(fields.projection, along[i]);
  }
  return along;
}

double level_variance(double mean, double along_offset, double along_rate, const std::array<double, 3>& covariance) {
  const double slope = 1 / (1 + std::exp(mean));  // d log lambda/d f
  const double to_offset = slope * (1 - along_offset), to_rate = 1 - slope * along_rate;
  const auto& [nn, nm, mm] = covariance;
  return to_offset * to_offset * nn + 2 * to_offset * to_rate * nm + to_rate * to_rate * mm;
}

}  // namespace fedpp::model
