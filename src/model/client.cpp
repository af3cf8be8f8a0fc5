#include "model/client.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "config/error.hpp"
#include "gpu/philox.hpp"

namespace fedpp::model {

gpu::Encoder make_encoder(const config::Model& model, const data::Clock& clock) {
  gpu::Encoder encoder;
  encoder.kind = model.encoder == "rbf" ? gpu::EncoderKind::kRbf : gpu::EncoderKind::kDeepKernel;
  encoder.width = static_cast<int>(model.width);
  encoder.window = clock.window;
  if (model.periods.size() > gpu::Encoder::kMostPeriods)
    throw UserError("model.periods has " + std::to_string(model.periods.size()) + " entries: at most " +
                    std::to_string(gpu::Encoder::kMostPeriods) + " are possible");
  encoder.periods = encoder.kind == gpu::EncoderKind::kRbf ? 0 : static_cast<int>(model.periods.size());
  for (int k = 0; k < encoder.periods; ++k) {
    encoder.angular[k] = 2 * std::numbers::pi / (model.periods[k] * clock.scale);
    encoder.phase[k] = 2 * std::numbers::pi * std::fmod(clock.origin / model.periods[k], 1.0);
  }
  return encoder;
}

std::vector<double> inducing_times(const data::Interval& span, std::int64_t inducing) {
  std::vector<double> z(inducing);
  for (std::int64_t j = 0; j < inducing; ++j)
    z[j] = inducing == 1
               ? 0.5 * (span.start + span.end)
               : span.start + (span.end - span.start) * static_cast<double>(j) / static_cast<double>(inducing - 1);
  return z;
}

Client make_client(std::int64_t id, const gpu::Encoder& encoder, std::vector<data::Realisation> training,
                   std::int64_t inducing, double tempering) {
  Client client;
  client.id = id;
  client.encoder = encoder;
  client.training = std::move(training);
  client.least_events = 0.5 * tempering;
  double events = 0, exposure = 0;
  for (const auto& r : client.training) {
    events = std::accumulate(r.multiplicities.begin(), r.multiplicities.end(), events);
    exposure = std::accumulate(r.node_weights.begin(), r.node_weights.end(), exposure);
    client.inducing.push_back(inducing_times(r.span, inducing));
    client.state.v_mean.insert(client.state.v_mean.end(), inducing, 0.0);
    for (std::int64_t c = 0; c < inducing; ++c)
      for (std::int64_t row = 0; row < inducing; ++row) client.state.v_factor.push_back(row == c ? 1.0 : 0.0);
  }
  client.state.rate = 2 * std::max(events, client.least_events) / std::max(exposure, 1e-300);
  return client;
}

WeightPosterior initial_prior(const config::Model& model, const gpu::Encoder& encoder, std::uint64_t seed) {
  const int p = encoder.parameters();
  WeightPosterior prior{std::vector<double>(p), std::vector<double>(p, model.prior_sd)};
  // w~ ~ N(0, weight_scale^2): one draw, common to all clients.
  for (int j = 0; j < encoder.weights(); ++j) {
    const auto pair = gpu::Philox::normals(
        gpu::Philox::block({{static_cast<std::uint32_t>(j), 0, 0, 0xFFFFFFFFu}}, gpu::Philox::key(seed)));
    prior.mean[j] = model.start_weight_scale * pair.first;
  }
  prior.mean[p - 2] = std::log(model.start_variance);
  prior.mean[p - 1] = std::log(start_lengthscale(model, encoder, prior.mean));
  return prior;
}

double start_lengthscale(const config::Model& model, const gpu::Encoder& encoder, const std::vector<double>& weights) {
  const double share = model.start_lengthscale;
  if (encoder.kind == gpu::EncoderKind::kRbf) return share * encoder.window;
  // The embedding distance that a step of `share` of the window makes, root mean square over the window.
  const int rows = encoder.inputs() + 1, steps = 200;
  const auto embedding = [&](double t) {
    std::vector<double> x(rows), h(encoder.width);
    encoder.input(t, x.data());
    for (int d = 0; d < encoder.width; ++d) {
      double sum = 0;
      for (int i = 0; i < rows; ++i) sum += weights[static_cast<std::size_t>(i) * encoder.width + d] * x[i];
      h[d] = std::tanh(sum);
    }
    return h;
  };
  double squared = 0;
  for (int k = 0; k < steps; ++k) {
    const double t = encoder.window * (1 - share) * (k + 0.5) / steps;
    const auto a = embedding(t), b = embedding(t + encoder.window * share);
    for (int d = 0; d < encoder.width; ++d) squared += (a[d] - b[d]) * (a[d] - b[d]);
  }
  return std::sqrt(std::max(squared / steps, 1e-12));
}

double cost(std::int64_t columns, std::int64_t inducing) {
  return static_cast<double>(columns) * static_cast<double>(inducing) * static_cast<double>(inducing);
}

}  // namespace fedpp::model
