// A diagonal Gaussian over the P weights: the global theta, and what a client uploads.
#pragma once

#include <cstdint>
#include <span>

#include "model/weight_posterior.hpp"

namespace fedpp::federation {

using Gaussian = model::WeightPosterior;

/// One client's upload as the server sees it; the arrays belong to the caller.
struct Upload {
  std::int64_t client = 0;           ///< global number
  double weight = 1;                 ///< alpha_c >= 0, in any unit: normalised over the accepted uploads
  std::span<const double> mean, sd;  ///< r_c, delta_c: [P]
};

}  // namespace fedpp::federation
