// The compensator's increments between a client's test events, by which predictions are calibrated (theory 1.8).
#pragma once

#include "data/realisation.hpp"
#include "evaluation/calibration.hpp"
#include "model/latent_posterior.hpp"

namespace fedpp::federation {

/// Adds those of a realisation. With a history the quadrature breaks at events; of an encoder of time alone the
/// intensity is the line through its values at events and nodes, times the exposure, and the whole is the quadrature's.
void add_increments(const data::Realisation& held_out, const model::RealisationPrediction& p,
                    evaluation::RescaledIncrements& increments);

}  // namespace fedpp::federation
