// What a client's bands know of its level (theory 1.8): the prior that nu has in their E-steps, and what the
// uncertainty of nu and log m adds to log lambda's.
#pragma once

#include <array>
#include <vector>

#include "model/client_batch.hpp"

namespace fedpp::model {

// Priors of bands. nu: levels sigma(nu) from 4 to 96 % of m; beyond, m sigma(f) is one function for many pairs (m, nu)
// (m to infinity, nu to minus infinity) or a constant that nothing but nu forbids to vary. log m: so wide that it
// speaks only where there are no data.
inline constexpr double kOffsetSd = 2, kLogRateSd = 10;

/// The start of E-steps under nu's prior: it is centred, and nu starts no further out than its sd.
void start_under_offset_prior(const ClientBatch& trained, int clients, int samples);

/// m as it maximises E_q(v)[log p(events)] = N log m - m sum omega E[sigma(f)] + ..., q(v) and nu held: the mean intensity
/// then adds up to the N events over the windows that it was given. (The m of theory 1.4 maximises the bound and is lower:
/// the bound takes each thinned point for rarer than E[sigma(-f)].) It has the floor of 1.4, least_events over the
/// exposure, which is the m of a client without events; one without exposure keeps its m. Moments are those of that q(v),
/// whose information was formed with the E-steps' m.
void match_rates_to_events(const gpu::Exec& exec, const ClientBatch& trained, int clients);

/// What the uncertainty of phi = (nu, log m) adds to bands: v gives way to it, v = v_free - direction phi, so that
/// d log lambda/d phi = (1 - sigma) ((1, 0) - V'direction) + (0, 1).
struct LevelUncertainty {
  std::array<gpu::Array<double>, 2> direction;    ///< [vector] Sigma_v times the information that v shares with phi
  std::vector<std::array<double, 3>> covariance;  ///< [clients] of phi, v integrated out: nu nu, nu log m, log m log m
};

/// q(v) keeps its mean and gets the covariance of PredictionOptions::bands; returns what nu and m add.
LevelUncertainty widen_to_expected_information(const gpu::Exec& exec, const ClientBatch& trained, int clients,
                                               int samples);

/// V'direction at a batch's points, laid out as gpu::Fields::projection. Overwrites the moments in `fields`.
std::array<std::vector<double>, 2> along_directions(const gpu::Exec& exec, const gpu::Batch& batch,
                                                    const gpu::Fields& fields, const LevelUncertainty& level);

/// Variance that phi adds to log lambda at a point: `mean` of f there, V'direction of nu and of log m, phi's
/// covariance.
double level_variance(double mean, double along_offset, double along_rate, const std::array<double, 3>& covariance);

}  // namespace fedpp::model
