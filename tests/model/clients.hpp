// Small clients with random points for the tests of the model.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/client.hpp"
#include "model/local_update.hpp"

namespace fedpp::test {

inline model::Embedding small_encoder(gpu::EncoderKind kind = gpu::EncoderKind::kDeepKernel,
                                      config::PriorMean mean = config::PriorMean::kConstant) {
  config::Model model;
  model.mean = mean;
  model.encoder = *config::from_word<config::Encoder>(gpu::encoder_family(kind).name());
  model.width = 8;
  return model::make_embedding(model, {});
}

/// N events and Q equally weighted nodes on [0, 100].
inline data::Realisation random_realisation(std::mt19937_64& engine, int events, int nodes) {
  data::Realisation r;
  std::uniform_real_distribution<double> uniform(0, 100);
  for (int i = 0; i < events; ++i) r.events.push_back(uniform(engine));
  std::sort(r.events.begin(), r.events.end());
  r.multiplicities.assign(r.events.size(), 1.0);
  r.log_offsets.assign(r.events.size(), 0.0);
  for (int q = 0; q < nodes; ++q) {
    r.nodes.push_back(100 * (q + 0.5) / nodes);
    r.node_weights.push_back(100.0 / nodes);
  }
  r.span = {0, 100};
  return r;
}

/// Clients of unlike sizes; the one numbered `id` is always the same.
inline model::Client small_client(std::int64_t id, gpu::EncoderKind kind = gpu::EncoderKind::kDeepKernel) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(id) + 17);
  std::vector<data::Realisation> realisations;
  const int count = 1 + static_cast<int>(id % 4);
  for (int i = 0; i < count; ++i)
    realisations.push_back(random_realisation(engine, 30 + static_cast<int>(97 * id % 300) * (i % 2), 40 + 30 * i));
  return model::make_client(id, small_encoder(kind), std::move(realisations), 6 + id % 5, 1.0);
}

/// A client of any encoder; a history encoder finds each realisation's events as one stream.
inline model::Client history_client(std::int64_t id, gpu::EncoderKind kind,
                                    config::PriorMean mean = config::PriorMean::kConstant) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(id) + 71);
  const auto embedding = small_encoder(kind, mean);
  std::vector<data::Realisation> realisations;
  for (int i = 0; i < 3; ++i) {
    auto r = random_realisation(engine, 20 + 10 * i + static_cast<int>(id), 40);
    if (embedding.reads_history()) {
      r.streams.push_back({0.0, r.events, std::vector<int>(r.events.size(), 0)});
      const auto before = [&](double t) {
        return static_cast<int>(std::lower_bound(r.events.begin(), r.events.end(), t) - r.events.begin());
      };
      for (const double t : r.events) r.event_history.push_back({0, before(t)});
      for (const double t : r.nodes) r.node_history.push_back({0, before(t)});
    }
    realisations.push_back(std::move(r));
  }
  return model::make_client(id, embedding, std::move(realisations), 7, 1.0);
}

inline model::WeightPosterior small_prior(const config::Model& model = {}) {
  return model::initial_prior(model, small_encoder(), 5);
}

/// Everything that a round may alter.
inline std::vector<double> state_of(const model::Client& c) {
  std::vector<double> all;
  const auto& s = c.state;
  for (const auto* part : {&s.weights.mean, &s.weights.sd, &s.raw, &s.first_mean, &s.second_mean, &s.first_raw,
                           &s.second_raw, &s.v_mean, &s.v_factor, &s.mixing, &s.core.mean, &s.core.sd})
    all.insert(all.end(), part->begin(), part->end());
  all.insert(all.end(), {s.rate, s.offset, static_cast<double>(s.steps), static_cast<double>(s.started)});
  return all;
}

}  // namespace fedpp::test
