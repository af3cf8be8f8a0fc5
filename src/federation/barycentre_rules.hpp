// What the closed-form barycentres take from an upload N(r, delta^2), weight by weight (theory 2.1): mu is the mean of
// r over the uploads, and sigma comes from the mean of their spreads.
#pragma once

#include <cassert>
#include <cmath>

#include "config/words.hpp"

namespace fedpp::federation {

/// Whether a rule's spread is one around a point, in the end around mu. mmd begins with kl's barycentre.
inline bool is_centred(config::Divergence rule) {
  return rule == config::Divergence::kKl || rule == config::Divergence::kMmd;
}

/// delta^2 + (r - centre)^2 (kl), delta (w2), delta^2 (fedavg). kl's mean around another centre is larger than around
/// mu by (mu - centre)^2.
inline double spread_of(config::Divergence rule, double r, double delta, double centre) {
  const double deviation = r - centre;
  switch (rule) {
    case config::Divergence::kAuto:
      break;
    case config::Divergence::kW2:
      return delta;
    case config::Divergence::kFedavg:
      return delta * delta;
    case config::Divergence::kKl:
    case config::Divergence::kMmd:
      return delta * delta + deviation * deviation;
  }
  assert(!"config::settle() has said which");
  return 0;
}

/// Takes a centred rule's mean of spreads from its centre to mu, `shift` away. \return whether less than `least` of it is
/// left, too few digits: then the spreads are to be summed around mu
inline bool recentre(double& spread, double shift, double least) {
  spread -= shift * shift;
  return spread < least * shift * shift;
}

/// sigma from the spreads' mean.
inline double sd_of(config::Divergence rule, double spread) {
  return rule == config::Divergence::kW2 ? spread : std::sqrt(spread);
}

}  // namespace fedpp::federation
