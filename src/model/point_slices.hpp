// Points of prediction are read in slices of whole realisations: those of windows that are scored with a history are
// many times the training's.
#pragma once

#include <cstddef>
#include <vector>

#include "model/client_batch.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::model {

/// One of a client's realisations, both by number.
struct RealisationOf {
  std::size_t client = 0, realisation = 0;
};

/// The slices of a set of points [client], each in order, of so many bytes or of one realisation.
std::vector<std::vector<RealisationOf>> slices_of(const std::vector<ClientPoints>& points,
                                                  const PredictionOptions& options);

/// Bytes of the arrays of a client's points while its largest slice is read.
double sliced_bytes(const ClientPoints& points, const PredictionOptions& options);

}  // namespace fedpp::model
