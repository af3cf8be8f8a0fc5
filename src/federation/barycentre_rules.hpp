// What the closed-form barycentres take from an upload N(r, delta^2), weight by weight (spec 2.1): mu is the mean of r
// over the uploads, and sigma comes from the mean of their spreads.
#pragma once

#include <cmath>

#include "config/words.hpp"

namespace fedpp::federation {

using config::Divergence;

/// Whether a rule's spread is one around a point, in the end around mu. mmd begins with kl's barycentre.
inline bool is_centred(Divergence rule) { return rule == Divergence::kKl || rule == Divergence::kMmd; }

/// delta^2 + (r - centre)^2 (kl), delta (w2), delta^2 (fedavg). kl's mean around another centre is larger than around
/// mu by (mu - centre)^2.
inline double spread_of(Divergence rule, double r, double delta, double centre) {
  if (rule == Divergence::kW2) return delta;
  if (!is_centred(rule)) return delta * delta;
  const double deviation = r - centre;
  return delta * delta + deviation * deviation;
}

/// sigma from the spreads' mean.
inline double sd_of(Divergence rule, double spread) { return rule == Divergence::kW2 ? spread : std::sqrt(spread); }

}  // namespace fedpp::federation
