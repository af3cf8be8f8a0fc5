#include "model/client_batch.hpp"

#include <algorithm>
#include <cassert>

#include "gpu/alignment.hpp"
#include "gpu/runtime.hpp"
#include "model/alignment.hpp"

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
  gpu::RealisationExtent e;
  e.client = client;
  e.inducing = static_cast<int>(c.inducing[i].times.size());
  e.columns = static_cast<int>(r.events.size() + r.nodes.size());
  for (const auto& stream : r.streams) e.streams.push_back(static_cast<int>(stream.times.size()));
  e.shares_inducing = i > 0 && !c.embedding.reads_history() && c.inducing[i].times == c.inducing[i - 1].times;
  return e;
}

/// What the encoder sees, collected point by point.
struct Seen {
  std::vector<double> input, inducing_input, token_input;
  std::vector<int> slot, inducing_slot, token_type;

  void add_streams(const Inputs& inputs, const data::Realisation& r) {
    first_slot_.clear();
    int slot_of_stream = 0;
    for (const auto& stream : r.streams) {
      first_slot_.push_back(slot_of_stream);
      slot_of_stream += static_cast<int>(stream.times.size()) + 1;
      for (std::size_t j = 0; j < stream.times.size(); ++j)
        add(inputs, stream.times[j], stream.times[j] - (j > 0 ? stream.times[j - 1] : stream.start), token_input);
      token_type.insert(token_type.end(), stream.types.begin(), stream.types.end());
    }
  }
  void add_point(const Inputs& inputs, const data::Realisation& r, double t, const data::HistoryPosition* position,
                 std::vector<double>& input_to, std::vector<int>& slot_to) const {
    if (position == nullptr) {
      add(inputs, t, 0, input_to);
      slot_to.push_back(0);
      return;
    }
    const auto& stream = r.streams[position->stream];
    add(inputs, t, t - (position->before > 0 ? stream.times[position->before - 1] : stream.start), input_to);
    slot_to.push_back(first_slot_[position->stream] + position->before);
  }

 private:
  static void add(const Inputs& inputs, double t, double gap, std::vector<double>& to) {
    to.resize(to.size() + inputs.count());
    inputs.at(t, std::max(gap, 0.0), to.data() + to.size() - inputs.count());
  }
  std::vector<int> first_slot_;
};

}  // namespace

std::vector<gpu::RealisationExtent> extents_of(const ClientPoints& points, int client) {
  std::vector<gpu::RealisationExtent> extents;
  for (std::size_t i = 0; i < points.realisations->size(); ++i)
    extents.push_back(extent(client, *points.client, (*points.realisations)[i], i));
  return extents;
}

gpu::Cost epoch_cost(const Client& client, std::int64_t samples, gpu::Precision precision) {
  gpu::Cost cost;
  const auto extents = extents_of({&client, &client.training});
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const gpu::ClientExtent extent{static_cast<int>(samples), client.embedding.encoder, precision};
    cost += gpu::local_epoch_cost(extent, extents[i]);
    if (const auto marks = client.training[i].marks.size(); marks > 0)
      cost += gpu::alignment_cost(extent, extents[i], static_cast<double>(marks));
  }
  return cost;
}

gpu::Precision precision_of(config::Precision precision) {
  return precision == config::Precision::kMixed ? gpu::Precision::kMixed : gpu::Precision::kDouble;
}

double array_bytes(std::span<const ClientPoints> clients, int samples, bool with_gradient, gpu::Precision precision) {
  Index kept = 0, chunk = 0, largest = 0;
  double cut_by = 0;
  for (const ClientPoints& points : clients) {
    const gpu::ClientExtent client{samples, points.client->embedding.encoder, precision};
    const auto extents = extents_of(points);
    const auto types = static_cast<Index>(with_gradient ? event_types(*points.realisations).size() : 0);
    Index streams = 0;
    for (const auto& e : extents) streams += static_cast<Index>(e.streams.size());
    kept += gpu::client_doubles(client, streams, with_gradient);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto& e = extents[i];
      kept += gpu::field_doubles(client, e, with_gradient);
      if (types > 0)
        kept += gpu::alignment_doubles(client, e, types, static_cast<Index>((*points.realisations)[i].marks.size()));
      if (!with_gradient) continue;
      if (!gpu::chunk_takes_more(cut_by)) cut_by = 0, chunk = 0;
      cut_by += gpu::chunk_bytes(samples, e.columns, e.inducing, client.encoder.dimension);
      chunk += gpu::chunk_doubles(client, e);
      largest = std::max(largest, chunk);
    }
  }
  return static_cast<double>(kept + largest) * sizeof(double);
}

ClientBatch::ClientBatch(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                         int samples, double jitter, bool with_gradient, bool spread, gpu::Precision precision)
    : samples_(samples), spread_(spread) {
  assert(clients.size() == weights.size());
  std::vector<gpu::ClientExtent> client_extents;
  std::vector<gpu::RealisationExtent> realisation_extents;
  std::vector<double> multiplicity, node_weight, least;
  std::vector<std::int64_t> ids;
  Seen seen;
  Index first_vector = 0, first_weight = 0;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    const Client& c = *clients[k].client;
    const auto& realisations = *clients[k].realisations;
    assert(realisations.size() == c.inducing.size());
    client_extents.push_back({samples, c.embedding.encoder, precision});
    realisation_begin_.push_back(static_cast<int>(realisation_extents.size()));
    posterior_.push_back(first_weight);
    first_weight += c.embedding.encoder.parameters();
    for (std::size_t i = 0; i < realisations.size(); ++i) {
      const auto& r = realisations[i];
      realisation_extents.push_back(extent(static_cast<int>(k), c, r, i));
      const int n = realisation_extents.back().columns;
      column_.push_back(static_cast<Index>(multiplicity.size()));
      columns_.push_back(n);
      vector_.push_back(first_vector);
      const auto& z = c.inducing[i];
      first_vector += static_cast<Index>(z.times.size());
      const Inputs& inputs = c.embedding.inputs;
      const bool history = c.embedding.reads_history();
      assert(!history || !r.streams.empty());
      seen.add_streams(inputs, r);
      for (const int j : column_order(n, spread)) {
        const bool event = j < static_cast<int>(r.events.size());
        const std::size_t q = j - r.events.size();
        const auto* position = !history ? nullptr : (event ? &r.event_history[j] : &r.node_history[q]);
        seen.add_point(inputs, r, event ? r.events[j] : r.nodes[q], position, seen.input, seen.slot);
        multiplicity.push_back(event ? r.multiplicities[j] : 0);
        node_weight.push_back(event ? 0 : r.node_weights[q]);
      }
      for (std::size_t j = 0; j < z.times.size(); ++j)
        seen.add_point(inputs, r, z.times[j], history ? &z.histories[j] : nullptr, seen.inducing_input,
                       seen.inducing_slot);
    }
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
  chunks_ = gpu::chunks_of(batch_);
  fields_ = gpu::make_fields(batch_, with_gradient, chunks_);
  gpu::copy_to(fields_.input, seen.input);
  gpu::copy_to(fields_.inducing_input, seen.inducing_input);
  gpu::copy_to(fields_.token_input, seen.token_input);
  gpu::copy_to(fields_.token_type, seen.token_type);
  gpu::copy_to(fields_.slot, seen.slot);
  gpu::copy_to(fields_.inducing_slot, seen.inducing_slot);
  gpu::copy_to(fields_.multiplicity, multiplicity);
  gpu::copy_to(fields_.node_weight, node_weight);
  gpu::copy_to(fields_.least_events, least);
  Kokkos::deep_copy(fields_.base_jitter, jitter);
  gpu::copy_to(fields_.client_id, ids);
  upload_states(clients, weights);
  encoder_ = gpu::make_encoder_operator(batch_, fields_, with_gradient);
}

void ClientBatch::upload_states(const std::vector<ClientPoints>& clients,
                                const std::vector<WeightPosterior>& weights) const {
  std::vector<double> v_mean, v_factor, rate, offset;
  for (const auto& [client, points] : clients) {
    const auto& state = client->state;
    v_mean.insert(v_mean.end(), state.v_mean.begin(), state.v_mean.end());
    v_factor.insert(v_factor.end(), state.v_factor.begin(), state.v_factor.end());
    rate.push_back(state.rate);
    offset.push_back(state.offset);
  }
  gpu::copy_to(fields_.v_mean, v_mean);
  gpu::copy_to(fields_.v_factor, v_factor);
  gpu::copy_to(fields_.rate, rate);
  gpu::copy_to(fields_.offset, offset);
  set_weights(weights);
}

void ClientBatch::restart(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights) const {
  gpu::restart(fields_);
  upload_states(clients, weights);
}

std::vector<int> ClientBatch::points_at_columns(int i) const { return column_order(columns_[i], spread_); }

std::vector<WeightPosterior> own_weights(const std::vector<ClientPoints>& points) {
  std::vector<WeightPosterior> weights;
  for (const auto& p : points) weights.push_back(p.client->state.weights);
  return weights;
}

void ClientBatch::set_weights(const std::vector<WeightPosterior>& weights) const {
  std::vector<double> mean, sd;
  for (const auto& w : weights) {
    mean.insert(mean.end(), w.mean.begin(), w.mean.end());
    sd.insert(sd.end(), w.sd.begin(), w.sd.end());
  }
  gpu::copy_to(fields_.mean, mean);
  gpu::copy_to(fields_.sd, sd);
  Kokkos::deep_copy(fields_.info, 0);
}

LatentPosteriors ClientBatch::read_latent() const {
  LatentPosteriors all;
  gpu::to_host(fields_.v_mean, all.v_mean);
  gpu::to_host(fields_.v_factor, all.v_factor);
  gpu::to_host(fields_.rate, all.rate);
  gpu::to_host(fields_.offset, all.offset);
  return all;
}

void ClientBatch::take_latent(const LatentPosteriors& all, int k, ClientState& state) const {
  const int begin = realisation_begin_[k];
  if (begin < realisation_begin_[k + 1]) {
    std::copy_n(all.v_mean.begin() + vector_[begin], state.v_mean.size(), state.v_mean.begin());
    std::copy_n(all.v_factor.begin() + square_[begin], state.v_factor.size(), state.v_factor.begin());
  }
  state.rate = all.rate[k];
  state.offset = all.offset[k];
}

std::vector<std::pair<int, int>> blocks_of(const std::vector<double>& bytes, double workspace_mb) {
  const double room = 1e6 * gpu::workspace_mb(workspace_mb);
  std::vector<std::pair<int, int>> blocks;
  double used = 0;
  for (int k = 0; k < static_cast<int>(bytes.size()); ++k) {
    if (blocks.empty() || used + bytes[k] > room) {
      blocks.emplace_back(k, k);
      used = 0;
    }
    used += bytes[k];
    blocks.back().second = k + 1;
  }
  return blocks;
}

std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, int samples, bool with_gradient,
                                           double workspace_mb, gpu::Precision precision) {
  std::vector<double> bytes;
  for (const auto& client : clients) bytes.push_back(array_bytes({&client, 1}, samples, with_gradient, precision));
  return blocks_of(bytes, workspace_mb);
}

}  // namespace fedpp::model
