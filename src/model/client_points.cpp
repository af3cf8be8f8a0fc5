#include "model/client_points.hpp"

#include "gpu/alignment.hpp"

namespace fedpp::model {

std::vector<ClientPoints> training_points(std::span<const Client* const> clients) {
  std::vector<ClientPoints> points;
  for (const Client* client : clients) points.push_back({client, &client->training});
  return points;
}

std::vector<WeightPosterior> own_weights(const std::vector<ClientPoints>& points) {
  std::vector<WeightPosterior> weights;
  for (const auto& p : points) weights.push_back(p.client->state.weights);
  return weights;
}

std::vector<gpu::RealisationExtent> extents_of(const ClientPoints& points, int client) {
  const Client& c = *points.client;
  std::vector<gpu::RealisationExtent> extents;
  for (std::size_t i = 0; i < points.realisations->size(); ++i) {
    const data::Realisation& r = (*points.realisations)[i];
    gpu::RealisationExtent& e = extents.emplace_back();
    e.client = client;
    e.inducing = static_cast<int>(c.inducing[i].times.size());
    e.columns = static_cast<int>(r.events.size() + r.nodes.size());
    for (const auto& stream : r.streams) e.streams.push_back(static_cast<int>(stream.times.size()));
    e.shares_inducing = i > 0 && !c.embedding.reads_history() && c.inducing[i].times == c.inducing[i - 1].times;
  }
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

}  // namespace fedpp::model
