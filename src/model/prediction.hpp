// Prediction for many clients from their own posteriors (model/latent_posterior.hpp), in blocks of clients; and
// quantiles of what is predicted.
#pragma once

#include <vector>

#include "model/latent_posterior.hpp"

namespace fedpp::model {

/// A client whose posterior is brought up to date on its training points and read at each set of points.
struct ClientPointSets {
  const Client* client = nullptr;
  std::vector<const std::vector<data::Realisation>*> points;  ///< sets, one entry per realisation each
};

/// Bytes of the arrays that a prediction for one client takes: of its training points, and of their averages over the
/// samples of the weights or then the largest slice of a set of points.
double prediction_bytes(const ClientPointSets& request, const PredictionOptions& options);

/// Result [set][realisation] for each client, from LatentPosteriors of blocks of clients. \throws PredictionError
std::vector<std::vector<std::vector<RealisationPrediction>>> predict(const std::vector<ClientPointSets>& requests,
                                                                     const Priors& priors,
                                                                     const PredictionOptions& options);

/// Quantile q of lambda at one point, log lambda = log m + log sigma(f) + level: the mixture over the samples of the
/// weights, f and level independent Gaussians with the variances of the prediction.
double intensity_quantile(const RealisationPrediction& prediction, std::size_t point, std::size_t points, double q);

}  // namespace fedpp::model
