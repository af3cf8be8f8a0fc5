// Power of a client's likelihood while the kernel is learned, from how bursty and how few its lists are.
#pragma once

#include "config/options.hpp"
#include "data/client_data.hpp"

namespace fedpp::data {

/// Events that come together: sum n_lb^2 / sum n_lb over the client's training lists l (all folds) and equal bins b of
/// the clock, the size of the burst that an event finds itself in. 1 where every event is alone in its list and bin;
/// unlike the variance of the counts over lists it is defined and steady with one or two lists. NaN without events.
double burst_size(const ClientData& client, const Clock& clock, int bins = 20);

/// tau in (0, 1]: 1 ("none"), the configured one ("fixed"), or, for E lists ("dispersion"),
///   burst_size^-1/2 (E - 1) / (E + 8), at least 0.02; 1 where the client has no events.
/// Bursts count for less than as many independent events, and a handful of lists must not shape a kernel that all
/// clients share. The form was found by experiment (validation/population); it is for learning alone, the posterior
/// that is scored is not tempered.
double tempering(const ClientData& client, const Clock& clock, const config::Model& model);

}  // namespace fedpp::data
