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

/// A batch's points as its arrays hold them, client by client.
struct HostBatch {
  std::vector<gpu::ClientExtent> clients;
  std::vector<gpu::RealisationExtent> realisations;
  Seen seen;
  std::vector<double> multiplicity, node_weight;  ///< [columns]
  std::vector<double> least_events;               ///< [clients]
  std::vector<std::int64_t> ids;                  ///< [clients]

  HostBatch(const std::vector<ClientPoints>& all, const BatchOptions& options) {
    for (const auto& [client, points] : all) {
      assert(points->size() == client->inducing.size());
      const int k = static_cast<int>(clients.size());
      clients.push_back({options.samples, client->embedding.encoder, options.precision});
      for (std::size_t i = 0; i < points->size(); ++i) {
        realisations.push_back(extent(k, *client, (*points)[i], i));
        add(*client, (*points)[i], client->inducing[i], options.spread);
      }
      least_events.push_back(client->least_events);
      ids.push_back(client->id);
    }
  }

 private:
  void add(const Client& client, const data::Realisation& r, const InducingPoints& z, bool spread) {
    const Inputs& inputs = client.embedding.inputs;
    const bool history = client.embedding.reads_history();
    assert(!history || !r.streams.empty());
    seen.add_streams(inputs, r);
    for (const int j : column_order(realisations.back().columns, spread)) {
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
};

}  // namespace

std::vector<ClientPoints> training_points(std::span<const Client* const> clients) {
  std::vector<ClientPoints> points;
  for (const Client* client : clients) points.push_back({client, &client->training});
  return points;
}

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

double array_bytes(std::span<const ClientPoints> clients, const BatchOptions& options) {
  Index kept = 0, chunk = 0, largest = 0;
  double cut_by = 0;
  for (const ClientPoints& points : clients) {
    const gpu::ClientExtent client{options.samples, points.client->embedding.encoder, options.precision};
    const auto extents = extents_of(points);
    const auto types = static_cast<Index>(options.with_gradient ? event_types(*points.realisations).size() : 0);
    Index streams = 0;
    for (const auto& e : extents) streams += static_cast<Index>(e.streams.size());
    kept += gpu::client_doubles(client, streams, options.with_gradient);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto& e = extents[i];
      kept += gpu::field_doubles(client, e, options.with_gradient);
      if (types > 0)
        kept += gpu::alignment_doubles(client, e, types, static_cast<Index>((*points.realisations)[i].marks.size()));
      if (!options.with_gradient) continue;
      if (!gpu::chunk_takes_more(cut_by)) cut_by = 0, chunk = 0;
      cut_by += gpu::chunk_bytes(options.samples, e.columns, e.inducing, client.encoder.dimension);
      chunk += gpu::chunk_doubles(client, e);
      largest = std::max(largest, chunk);
    }
  }
  return static_cast<double>(kept + largest) * sizeof(double);
}

ClientBatch::ClientBatch(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                         const BatchOptions& options)
    : options_(options) {
  assert(clients.size() == weights.size());
  const HostBatch host(clients, options);
  index(host.clients, host.realisations);
  batch_ = gpu::make_batch(host.clients, host.realisations);
  chunks_ = gpu::chunks_of(batch_);
  fields_ = gpu::make_fields(batch_, options.with_gradient, chunks_);
  gpu::copy_to(fields_.input, host.seen.input);
  gpu::copy_to(fields_.inducing_input, host.seen.inducing_input);
  gpu::copy_to(fields_.token_input, host.seen.token_input);
  gpu::copy_to(fields_.token_type, host.seen.token_type);
  gpu::copy_to(fields_.slot, host.seen.slot);
  gpu::copy_to(fields_.inducing_slot, host.seen.inducing_slot);
  gpu::copy_to(fields_.multiplicity, host.multiplicity);
  gpu::copy_to(fields_.node_weight, host.node_weight);
  gpu::copy_to(fields_.least_events, host.least_events);
  Kokkos::deep_copy(fields_.base_jitter, options.jitter);
  gpu::copy_to(fields_.client_id, host.ids);
  upload_states(clients, weights);
  encoder_ = gpu::make_encoder_operator(batch_, fields_, options.with_gradient);
}

void ClientBatch::index(const std::vector<gpu::ClientExtent>& clients,
                        const std::vector<gpu::RealisationExtent>& realisations) {
  Index weight = 0, column = 0, vector = 0, square = 0;
  for (const auto& c : clients) {
    posterior_.push_back(weight);
    weight += c.encoder.parameters();
  }
  for (const auto& r : realisations) {
    realisation_begin_.resize(r.client + 1, static_cast<int>(column_.size()));
    column_.push_back(column);
    columns_.push_back(r.columns);
    vector_.push_back(vector);
    square_.push_back(square);
    column += r.columns;
    vector += r.inducing;
    square += static_cast<Index>(r.inducing) * r.inducing;
  }
  realisation_begin_.resize(clients.size() + 1, static_cast<int>(column_.size()));
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

std::vector<int> ClientBatch::points_at_columns(int i) const { return column_order(columns_[i], options_.spread); }

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

std::optional<FailedFactor> ClientBatch::failed_factor(int k, const std::vector<int>& info) const {
  const int samples = options_.samples, begin = realisation_begin_[k];
  for (int i = begin; i < realisation_begin_[k + 1]; ++i)
    for (int sample = 0; sample < samples; ++sample) {
      const std::size_t problem = static_cast<std::size_t>(i) * samples + sample;
      if (info[problem] != 0) return FailedFactor{i - begin, sample, problem};
    }
  return std::nullopt;
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

std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, const BatchOptions& options,
                                           double workspace_mb) {
  std::vector<double> bytes;
  for (const auto& client : clients) bytes.push_back(array_bytes({&client, 1}, options));
  return blocks_of(bytes, workspace_mb);
}

}  // namespace fedpp::model
