// Events of a known rate.
#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "model/clients.hpp"

namespace fedpp::test {

/// lambda(t) on [0, 100].
inline double truth(double t) { return 4 + 3 * std::sin(2 * std::numbers::pi * t / 50); }

/// By thinning, with 400 nodes.
inline data::Realisation simulated(unsigned seed) {
  std::mt19937_64 engine(seed);
  auto r = random_realisation(engine, 0, 400);
  std::exponential_distribution<double> gap(7);
  std::uniform_real_distribution<double> uniform(0, 7);
  for (double t = gap(engine); t < 100; t += gap(engine))
    if (uniform(engine) < truth(t)) r.events.push_back(t);
  r.multiplicities.assign(r.events.size(), 1.0);
  r.log_offsets.assign(r.events.size(), 0.0);
  return r;
}

}  // namespace fedpp::test
