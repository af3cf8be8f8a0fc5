// What the simulated processes share.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "config/error.hpp"
#include "data/client_data.hpp"
#include "data/random.hpp"

namespace fedpp::data {

inline double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

/// Thinning of a Poisson process of rate `bound`.
template <class Intensity>
std::vector<double> thin(const Intensity& intensity, double bound, Interval window, Random& random) {
  if (!std::isfinite(bound))
    throw UserError("the simulated intensity has no finite bound: lower the rate, or take a longer window");
  std::vector<double> times;
  for (double t = window.start;;) {
    t += random.exponential() / bound;
    if (!(t < window.end)) return times;
    const double level = intensity(t);
    if (!(level >= 0 && level <= bound * (1 + 1e-12)))
      throw UserError(
          fmt::format("simulated intensity {} at time {} is not within [0, {}]: raise the bound", level, t, bound));
    if (random.uniform() * bound < level) times.push_back(t);
  }
}

}  // namespace fedpp::data
