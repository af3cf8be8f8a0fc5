// Processes whose intensity is written down: Poisson and Hawkes.
#include "data/simulate.hpp"

#include <cassert>
#include <cmath>

#include "data/random.hpp"
#include "data/simulation_parts.hpp"

namespace fedpp::data {

std::vector<SimulatedSequence> simulate_poisson(const std::function<double(double)>& intensity, double bound,
                                                Interval window, int sequences, std::uint64_t seed) {
  assert(bound > 0 && window.end > window.start);
  Random random(seed, Purpose::kSimulateEvents, 0);
  std::vector<SimulatedSequence> drawn(sequences);
  for (int s = 0; s < sequences; ++s) {
    drawn[s].id = s;
    drawn[s].window = window;
    drawn[s].times = thin(intensity, bound, window, random);
    drawn[s].types.assign(drawn[s].times.size(), 0);
  }
  return drawn;
}

std::vector<SimulatedSequence> simulate_hawkes(const HawkesSettings& settings, std::uint64_t seed) {
  assert(settings.mu > 0 && settings.beta > 0 && settings.window > 0);
  assert(settings.alpha >= 0 && settings.alpha < 1);  // else it explodes
  Random random(seed, Purpose::kSimulateEvents, 0);
  std::vector<SimulatedSequence> drawn(settings.sequences);
  for (int s = 0; s < settings.sequences; ++s) {
    drawn[s].id = s;
    drawn[s].window = {0, settings.window};
    // Ogata: the intensity falls until the next event, so its present value bounds it.
    double excited = 0;
    for (double t = 0;;) {
      const double bound = settings.mu + excited;
      const double wait = random.exponential() / bound;
      t += wait;
      if (!(t < settings.window)) break;
      excited *= std::exp(-settings.beta * wait);
      if (random.uniform() * bound >= settings.mu + excited) continue;
      drawn[s].times.push_back(t);
      excited += settings.alpha * settings.beta;
    }
    drawn[s].types.assign(drawn[s].times.size(), 0);
  }
  return drawn;
}

}  // namespace fedpp::data
