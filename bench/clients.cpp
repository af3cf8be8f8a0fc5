#include "clients.hpp"

#include <algorithm>
#include <random>

namespace fedpp::bench {

namespace {

data::Realisation realisation(std::mt19937_64& random, const Shape& shape, double end, bool history) {
  std::uniform_real_distribution<double> uniform(0, end);
  data::Realisation r;
  for (int i = 0; i < shape.events; ++i) r.events.push_back(uniform(random));
  std::sort(r.events.begin(), r.events.end());
  r.multiplicities.assign(shape.events, 1.0);
  r.log_offsets.assign(shape.events, 0.0);
  for (int q = 0; q < shape.nodes; ++q) r.nodes.push_back(end * (q + 0.5) / shape.nodes);
  r.node_weights.assign(shape.nodes, end / shape.nodes);
  r.span = {0, end};
  if (!history) return r;
  r.streams.push_back({0.0, r.events, std::vector<int>(shape.events, 0)});
  for (int i = 0; i < shape.events; ++i) r.event_history.push_back({0, i});
  for (const double t : r.nodes)
    r.node_history.push_back(
        {0, static_cast<int>(std::lower_bound(r.events.begin(), r.events.end(), t) - r.events.begin())});
  return r;
}

}  // namespace

model::Client make_client(const Shape& shape, config::Encoder encoder, int width) {
  std::mt19937_64 random(1);
  config::Model options;
  options.encoder = encoder;
  options.time_input = config::reads_types(options);
  options.width = width;
  const auto embedding = model::make_embedding(options, {});
  std::vector<data::Realisation> realisations;
  for (int k = 0; k < shape.realisations; ++k) {
    const double end = shape.own_windows ? 90 + 10.0 * (k + 1) / shape.realisations : 100;
    realisations.push_back(realisation(random, shape, end, embedding.reads_history()));
  }
  return model::make_client(0, embedding, std::move(realisations), shape.inducing, 1.0);
}

}  // namespace fedpp::bench
