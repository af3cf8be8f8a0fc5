// Models that a client weighs against each other.
#pragma once

#include <vector>

#include "model/weight_posterior.hpp"

namespace fedpp::model {

/// Models that a client mixes (gpu/mixture.hpp): in a local update each participant learns the shares state.mixing [C]
/// and its own model state.core through the mixture, which is its posterior then. Adam's state is the own model's.
struct ModelMixture {
  const std::vector<WeightPosterior>& models;  ///< [C], by client; a participant's own is not read
  const std::vector<double>& anchor;           ///< [C] what the shares are drawn to
  double rate = 0;                             ///< step on the shares, of the objective per training event
  double penalty = 0;                          ///< weight of |p - anchor|^2 / 2
};

}  // namespace fedpp::model
