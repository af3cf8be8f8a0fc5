// Predictions with q(v), m and nu held, for many choices of the weights' posterior: what a client asks when it chooses
// where its weights start (theory 2.5).
#pragma once

#include <memory>
#include <vector>

#include "model/client_points.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::model {

class FrozenPrediction {
 public:
  /// Held-out points of clients that took part, with the clients' present q(v), m and nu. One batch: its fields must
  /// fit into memory (blocks_of). `options`: model, samples, seed. The points must outlive this.
  FrozenPrediction(const std::vector<ClientPoints>& points, const PredictionOptions& options);
  ~FrozenPrediction();

  /// [client][realisation] under these posteriors, in the order of the points: expected intensities and m alone. The
  /// draws are the same at every call. NaN for a client of whom a factorisation fails.
  std::vector<std::vector<RealisationPrediction>> under(const std::vector<WeightPosterior>& weights) const;

 private:
  struct Block;
  std::unique_ptr<Block> block_;
};

}  // namespace fedpp::model
