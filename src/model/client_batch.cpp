#include "model/client_batch.hpp"

#include <algorithm>
#include <cassert>

#include "gpu/encoder_operator.hpp"
#include "model/host_batch.hpp"

namespace fedpp::model {

using gpu::Index;

ClientBatch::ClientBatch(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                         const BatchOptions& options)
    : options_(options) {
  assert(clients.size() == weights.size());
  const HostBatch host = host_batch(clients, options);
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
    weight += c.encoder.parameters;
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

}  // namespace fedpp::model
