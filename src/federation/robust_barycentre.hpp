// Barycentres that a few hostile or broken uploads cannot move far (docs/aggregation.md).
#pragma once

#include "config/words.hpp"
#include "federation/accepted_uploads.hpp"

namespace fedpp::federation {

using config::Divergence;
using config::Estimator;

/// Collective. The equations of 2.1 for kl, w2 and fedavg with every weighted mean over the clients replaced by their
/// median or trimmed mean, weight by weight: mu = E[r]; sigma^2 = E[delta^2 + (r - mu)^2] (kl), sigma = E[delta] (w2),
/// sigma^2 = E[delta^2] (fedavg). The uploads' weights are not used.
Gaussian robust_barycentre(mpi::Communicator& comm, const AcceptedUploads& uploads, std::size_t parameters,
                           Divergence rule, Estimator estimator, double trim);

}  // namespace fedpp::federation
