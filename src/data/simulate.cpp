// Processes whose intensity is written down: Poisson and Hawkes.
#include "data/simulate.hpp"

#include <cmath>

#include "data/random.hpp"
#include "data/simulation_parts.hpp"

namespace fedpp::data {

std::vector<SimulatedSequence> simulate_poisson(const std::function<double(double)>& intensity, double bound,
                                                Interval window, int sequences, std::uint64_t seed) {
  check_setting(bound > 0, "bound", bound, "must be positive");
  check_setting(window.end > window.start, "window end", window.end, "must lie after its start");
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
  check_setting(settings.mu > 0, "mu", settings.mu, "the background rate must be positive");
  check_setting(settings.alpha >= 0 && settings.alpha < 1, "alpha", settings.alpha,
                "choose it in [0, 1), else the process explodes");
  check_setting(settings.beta > 0, "beta", settings.beta, "the decay must be positive");
  check_setting(settings.window > 0, "window", settings.window, "must be positive");
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
