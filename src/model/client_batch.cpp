#include "model/client_batch.hpp"

#include <algorithm>
#include <cassert>

namespace fedpp::model {

using gpu::Index;

namespace {

/// Position of the columns in the batch: as they come (events, then nodes), or dealt to the tiles in turn.
std::vector<int> column_order(int columns, bool spread) {
  std::vector<int> order;
  order.reserve(columns);
  const int tiles = spread ? std::max(1, (columns + gpu::tile_columns() - 1) / gpu::tile_columns()) : 1;
  for (int first = 0; first < tiles; ++first)
    for (int j = first; j < columns; j += tiles) order.push_back(j);
  return order;
}

gpu::RealisationExtent extent(int client, const Client& c, const data::Realisation& r, std::size_t i) {
  return {client, static_cast<int>(c.inducing[i].size()), static_cast<int>(r.events.size() + r.nodes.size())};
}

}  // namespace

ClientBatch::ClientBatch(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                         int samples, double jitter, bool with_gradient, bool spread)
    : samples_(samples) {
  assert(clients.size() == weights.size());
  std::vector<gpu::ClientExtent> client_extents;
  std::vector<gpu::RealisationExtent> realisation_extents;
  std::vector<double> time, multiplicity, node_weight, inducing, mean, sd, v_mean, v_factor, rate, offset, least;
  std::vector<std::int64_t> ids;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    const Client& c = *clients[k].client;
    const auto& realisations = *clients[k].realisations;
    assert(realisations.size() == c.inducing.size());
    client_extents.push_back({samples, c.encoder});
    realisation_begin_.push_back(static_cast<int>(realisation_extents.size()));
    posterior_.push_back(static_cast<Index>(mean.size()));
    for (std::size_t i = 0; i < realisations.size(); ++i) {
      const auto& r = realisations[i];
      realisation_extents.push_back(extent(static_cast<int>(k), c, r, i));
      const int n = realisation_extents.back().columns;
      column_.push_back(static_cast<Index>(time.size()));
      columns_.push_back(n);
      vector_.push_back(static_cast<Index>(inducing.size()));
      for (const int j : column_order(n, spread)) {
        const bool event = j < static_cast<int>(r.events.size());
        const std::size_t q = j - r.events.size();
        time.push_back(event ? r.events[j] : r.nodes[q]);
        multiplicity.push_back(event ? r.multiplicities[j] : 0);
        node_weight.push_back(event ? 0 : r.node_weights[q]);
      }
      inducing.insert(inducing.end(), c.inducing[i].begin(), c.inducing[i].end());
    }
    mean.insert(mean.end(), weights[k].mean.begin(), weights[k].mean.end());
    sd.insert(sd.end(), weights[k].sd.begin(), weights[k].sd.end());
    v_mean.insert(v_mean.end(), c.state.v_mean.begin(), c.state.v_mean.end());
    v_factor.insert(v_factor.end(), c.state.v_factor.begin(), c.state.v_factor.end());
    rate.push_back(c.state.rate);
    offset.push_back(c.state.offset);
    least.push_back(c.least_events);
    ids.push_back(c.id);
  }
  realisation_begin_.push_back(static_cast<int>(realisation_extents.size()));
  Index square = 0;
  for (const auto& r : realisation_extents) {
    square_.push_back(square);
    square += static_cast<Index>(r.inducing) * r.inducing;
  }

  batch_ = gpu::make_batch(client_extents, realisation_extents);
  fields_ = gpu::make_fields(batch_, with_gradient);
  fields_.time = gpu::to_device<double>("time", time);
  fields_.multiplicity = gpu::to_device<double>("multiplicity", multiplicity);
  fields_.node_weight = gpu::to_device<double>("node_weight", node_weight);
  fields_.inducing_time = gpu::to_device<double>("inducing_time", inducing);
  fields_.mean = gpu::to_device<double>("mean", mean);
  fields_.sd = gpu::to_device<double>("sd", sd);
  fields_.v_mean = gpu::to_device<double>("v_mean", v_mean);
  fields_.v_factor = gpu::to_device<double>("v_factor", v_factor);
  fields_.rate = gpu::to_device<double>("rate", rate);
  fields_.offset = gpu::to_device<double>("offset", offset);
  fields_.least_events = gpu::to_device<double>("least_events", least);
  Kokkos::deep_copy(fields_.base_jitter, jitter);
  fields_.client_id = gpu::to_device<std::int64_t>("client_id", ids);
}

void ClientBatch::read_latent(int k, ClientState& state) const {
  const int begin = realisation_begin_[k];
  const auto read = [](const gpu::Array<double>& device, Index first, std::vector<double>& host) {
    const auto part = Kokkos::subview(device, std::make_pair(first, first + static_cast<Index>(host.size())));
    Kokkos::deep_copy(gpu::HostArray<double>(host.data(), host.size()), part);
  };
  if (begin < realisation_begin_[k + 1]) {
    read(fields_.v_mean, vector_[begin], state.v_mean);
    read(fields_.v_factor, square_[begin], state.v_factor);
  }
  std::vector<double> one(1);
  read(fields_.rate, k, one);
  state.rate = one[0];
  read(fields_.offset, k, one);
  state.offset = one[0];
}

std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, int samples, bool with_gradient,
                                           double workspace_mb) {
  std::vector<std::pair<int, int>> blocks;
  double used = 0;
  for (int k = 0; k < static_cast<int>(clients.size()); ++k) {
    const Client& c = *clients[k].client;
    double doubles = 0;
    for (std::size_t i = 0; i < c.inducing.size(); ++i)
      doubles += static_cast<double>(
          gpu::field_doubles({samples, c.encoder}, extent(0, c, (*clients[k].realisations)[i], i), with_gradient));
    const double mb = doubles * sizeof(double) / 1e6;
    if (blocks.empty() || used + mb > workspace_mb) {
      blocks.emplace_back(k, k);
      used = 0;
    }
    used += mb;
    blocks.back().second = k + 1;
  }
  return blocks;
}

}  // namespace fedpp::model
