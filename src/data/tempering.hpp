// Power of a client's likelihood from the spread of counts over its sequences.
#pragma once

#include "config/options.hpp"
#include "data/client_data.hpp"

namespace fedpp::data {

/// Dispersion phi of the client's training lists (all folds): the variance over the lists of their counts in equal bins
/// of the clock, summed over the bins, divided by the summed means. 1 for Poisson streams of one intensity; above it
/// where few, bursty or unlike users make up the stream. Meant for pooled streams over one common window. NaN with
/// fewer than two lists or without events.
double dispersion(const ClientData& client, const Clock& clock, int bins = 10);

/// tau in (0, 1]: 1 ("none"), the configured one ("fixed"), or 1/phi, kept within [0.02, 1] ("dispersion"; 1 where phi
/// is not known).
double tempering(const ClientData& client, const Clock& clock, const config::Model& model);

}  // namespace fedpp::data
