#include "model/client.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/draw_purpose.hpp"
#include "model/embeddings.hpp"

namespace fedpp::model {

namespace {

/// Along the stretches of time that have nodes, stream by stream: the realisation's windows laid end to end.
InducingPoints along_streams(const data::Realisation& training, std::int64_t inducing) {
  // Node weights are lengths of time up to the tempering, so their running sum is the position.
  const double total = std::accumulate(training.node_weights.begin(), training.node_weights.end(), 0.0);
  InducingPoints z;
  std::size_t node = 0;
  double passed = 0;
  for (std::int64_t j = 0; j < inducing; ++j) {
    const double wanted = total * (static_cast<double>(j) + 0.5) / static_cast<double>(inducing);
    while (node + 1 < training.nodes.size() && passed + training.node_weights[node] < wanted)
      passed += training.node_weights[node++];
    if (training.nodes.empty()) {  // nothing to learn from: the prior, anywhere
      z.times.push_back(training.streams.empty() ? 0.0 : training.streams.front().start);
      z.histories.push_back({0, 0});
      continue;
    }
    z.times.push_back(training.nodes[node]);
    z.histories.push_back(training.node_history[node]);
  }
  return z;
}

}  // namespace

InducingPoints inducing_points(const data::Realisation& training, std::int64_t inducing) {
  if (!training.streams.empty()) return along_streams(training, inducing);
  const auto& span = training.span;
  InducingPoints z;
  for (std::int64_t j = 0; j < inducing; ++j)
    z.times.push_back(inducing == 1 ? 0.5 * (span.start + span.end)
                                    : span.start + (span.end - span.start) * static_cast<double>(j) /
                                                       static_cast<double>(inducing - 1));
  return z;
}

void start_latent(LatentState& state, std::size_t realisations, std::size_t inducing) {
  const std::size_t square = inducing * inducing;
  state.v_mean.assign(realisations * inducing, 0.0);
  state.v_factor.assign(realisations * square, 0.0);
  for (std::size_t i = 0; i < realisations; ++i)
    for (std::size_t j = 0; j < inducing; ++j) state.v_factor[i * square + j * (inducing + 1)] = 1;
}

Client make_client(std::int64_t id, const Embedding& embedding, std::vector<data::Realisation> training,
                   std::int64_t inducing, double tempering) {
  Client client;
  client.id = id;
  client.embedding = embedding;
  client.training = std::move(training);
  client.least_events = 0.5 * tempering;
  double events = 0, exposure = 0;
  for (const auto& r : client.training) {
    events = std::accumulate(r.multiplicities.begin(), r.multiplicities.end(), events);
    exposure = std::accumulate(r.node_weights.begin(), r.node_weights.end(), exposure);
    client.inducing.push_back(inducing_points(r, inducing));
  }
  start_latent(client.state, client.training.size(), inducing);
  client.state.rate = 2 * std::max(events, client.least_events) / std::max(exposure, 1e-300);
  return client;
}

namespace {

/// Of the weights (series 0) and of the gaps in start_lengthscale() (1, 2). The last bits keep results as they were.
double normal(std::uint64_t seed, int index, std::uint32_t series) {
  return gpu::Philox::normals(gpu::random_bits(seed, gpu::DrawPurpose::kInitial, static_cast<std::uint32_t>(index), 0,
                                               series, 0x0FFFFFFFu))
      .first;
}

/// Root mean square distance between neighbouring pairs (2k, 2k + 1) of n columns.
double pair_distance(const std::vector<double>& h, int dimension) {
  const std::size_t pairs = h.size() / (2 * static_cast<std::size_t>(dimension));
  double squared = 0;
  for (std::size_t k = 0; k < pairs; ++k)
    for (int d = 0; d < dimension; ++d) {
      const double difference = h[(2 * k) * dimension + d] - h[(2 * k + 1) * dimension + d];
      squared += difference * difference;
    }
  return std::sqrt(std::max(squared / static_cast<double>(pairs), 1e-12));
}

}  // namespace

WeightPosterior initial_prior(const config::Model& model, const Embedding& embedding, std::uint64_t seed) {
  const gpu::Encoder& encoder = embedding.encoder;
  const int p = encoder.parameters;
  WeightPosterior prior{std::vector<double>(p), std::vector<double>(p, model.prior_sd)};
  const auto start = gpu::encoder_family(encoder.kind).start(encoder);
  for (int j = 0; j < encoder.weights; ++j) {  // one draw, common to all clients
    prior.mean[j] = start.mean[j] + model.start_weight_scale * start.sd[j] * normal(seed, j, 0);
    prior.sd[j] = model.prior_sd * start.sd[j];
  }
  // The slopes of a linear prior mean, a matrix of one row, start at 0. By the root of its inputs: else a'h would
  // differ between samples of w by more than q(v), which they share, can make up for.
  for (int j = encoder.weights; j < p - 2; ++j) prior.sd[j] = model.mean_sd / std::sqrt(encoder.dimension);
  prior.mean[p - 2] = std::log(model.start_variance);
  prior.mean[p - 1] = std::log(start_lengthscale(model, embedding, prior.mean));
  return prior;
}

double start_lengthscale(const config::Model& model, const Embedding& embedding, const std::vector<double>& weights) {
  const double share = model.start_lengthscale, window = embedding.inputs.window();
  constexpr int kPairs = 200;
  data::Realisation grid;
  if (!embedding.reads_history()) {
    for (int k = 0; k < kPairs; ++k) {
      const double t = window * (1 - share) * (k + 0.5) / kPairs;
      grid.nodes.insert(grid.nodes.end(), {t, t + window * share});
    }
  } else {
    // A stream of log-normal gaps; a pair is two points behind its tokens, half the stream apart.
    data::Stream stream;
    const auto& gaps = embedding.inputs.gaps();
    const auto gap = [&](int j, std::uint32_t series) { return std::exp(gaps.mean + gaps.sd * normal(0, j, series)); };
    double t = 0;
    for (int j = 0; j < 2 * kPairs && (j < 20 || t < window); ++j) {
      t += gap(j, 1);
      stream.times.push_back(t);
      stream.types.push_back(embedding.encoder.types > 0 ? j % embedding.encoder.types : 0);
    }
    grid.streams.push_back(stream);
    const int half = static_cast<int>(stream.times.size()) / 2;
    for (int k = 0; k < half; ++k)
      for (const int j : {k, k + half}) {
        grid.nodes.push_back(stream.times[j] + gap(j, 2));
        grid.node_history.push_back({0, j + 1});
      }
  }
  grid.node_weights.assign(grid.nodes.size(), 1.0);
  const auto h = embeddings_at(embedding, {&weights}, grid, 0).front();
  const double distance = pair_distance(h, embedding.encoder.dimension);
  return embedding.reads_history() ? 10 * share * distance : distance;
}

}  // namespace fedpp::model
