// What a LatentPosterior holds, for the files that read it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/client_batch.hpp"
#include "model/prediction.hpp"

namespace fedpp::model {

/// What the uncertainty of phi = (nu, log m) adds to bands: v gives way to it, v = v_free - direction phi, so that
/// d log lambda/d phi = (1 - sigma) ((1, 0) - V'direction) + (0, 1).
struct LevelUncertainty {
  std::array<gpu::Array<double>, 2> direction;    ///< [vector] Sigma_v times the information that v shares with phi
  std::vector<std::array<double, 3>> covariance;  ///< [clients] of phi, v integrated out: nu nu, nu log m, log m log m
};

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

/// Other points of the clients of `trained`, from the posterior that it holds.
PointsRead read_points(const gpu::Exec& exec, const ClientBatch& trained, const std::vector<ClientPoints>& points,
                       const std::vector<WeightPosterior>& weights, const PredictionOptions& options);

}  // namespace fedpp::model
