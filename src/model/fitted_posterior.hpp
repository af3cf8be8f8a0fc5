// What a LatentPosterior holds, for the files that read it.
#pragma once

#include <optional>
#include <vector>

#include "model/client_batch.hpp"
#include "model/latent_posterior.hpp"
#include "model/level_uncertainty.hpp"

namespace fedpp::model {

struct LatentPosterior::Fitted {
  gpu::Exec exec;
  PredictionOptions options;
  std::vector<const Client*> clients;
  std::vector<WeightPosterior> weights;
  std::optional<ClientBatch> trained;
  std::optional<LevelUncertainty> level;
  std::vector<double> rates;
  std::vector<double> v_mean, v_factor;  ///< q(v) as gpu::Fields has it; with bands
};

/// A batch of other points of clients, with V and the moments of f there. The fields are the batch's, but q(v), m, nu
/// and the samples of the weights are those of the clients' posterior.
struct PointsRead {
  ClientBatch batch;
  gpu::Fields fields;
};

/// Other points of the clients of `fitted`, from the posterior that it holds. \param sample of the weights of the only
/// client, which these points are read under alone, as the batch's only one
PointsRead read_points(const LatentPosterior::Fitted& fitted, const std::vector<ClientPoints>& points,
                       std::optional<int> sample = std::nullopt);

}  // namespace fedpp::model
