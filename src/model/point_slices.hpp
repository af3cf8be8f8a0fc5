// Points of prediction are read in slices: those of windows that are scored with a history are many times the
// training's.
#pragma once

#include <cstddef>
#include <vector>

#include "model/client_batch.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::model {

/// Some points of one of a client's realisations: [first, last) of its events and then its nodes.
struct PointsOf {
  std::size_t client = 0, realisation = 0, first = 0, last = 0;
};

/// The slices of a set of points [client], each in order, of about as many bytes as the work space says. A realisation
/// of more than options.part_bytes is cut into parts, by its own size alone, that have as many points as its streams
/// have tokens, at least: every slice forms the history anew.
std::vector<std::vector<PointsOf>> slices_of(const std::vector<ClientPoints>& points, const PredictionOptions& options);

/// These points as a realisation to predict at: with all of the history that they see, without what scores need.
data::Realisation part_of(const data::Realisation& realisation, const PointsOf& points);

/// Bytes of the arrays of a client's points while its largest slice is read.
double sliced_bytes(const ClientPoints& points, const PredictionOptions& options);

}  // namespace fedpp::model
