// The increments of the predicted compensator between test events, by which predictions are calibrated (spec 1.8).
#pragma once

#include <vector>

#include "data/random.hpp"
#include "data/realisation.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::federation {

/// Compensator between consecutive test events, from the cumulative sums of the held-out quadrature read between its
/// nodes by linear interpolation; with a history the quadrature breaks at events.
std::vector<double> increments_of(const data::Realisation& held_out, const model::RealisationPrediction& p,
                                  data::Random& random);

}  // namespace fedpp::federation
