// Points of clients for a batch, and what follows from them without a device: extents, the cost of an epoch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cost.hpp"
#include "model/client.hpp"

namespace fedpp::model {

/// Points of one client for a batch: training, or held-out windows.
struct ClientPoints {
  const Client* client = nullptr;
  const std::vector<data::Realisation>* realisations = nullptr;  ///< as many as client->inducing
};

/// The clients' training points.
std::vector<ClientPoints> training_points(std::span<const Client* const> clients);

/// The clients' own posteriors of the weights.
std::vector<WeightPosterior> own_weights(const std::vector<ClientPoints>& points);

/// Extents of a client's realisations in a batch where it is number `client`.
std::vector<gpu::RealisationExtent> extents_of(const ClientPoints& points, int client = 0);

/// What one local epoch of a client costs: about columns x M^2 (gpu/cost.hpp).
gpu::Cost epoch_cost(const Client& client, std::int64_t samples, gpu::Precision precision = gpu::Precision::kDouble);

}  // namespace fedpp::model
