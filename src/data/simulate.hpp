// Event sequences drawn from known models, for checks against the truth (theory 3.5).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/client_data.hpp"

namespace fedpp::data {

/// A drawn sequence: times increasing within the window, and their types.
struct SimulatedSequence {
  std::int64_t id = 0;
  std::vector<double> times;
  std::vector<int> types;
  Interval window{0, 0};
};

/// The truth behind a sigmoidal Gaussian Cox process: its intensity on a grid.
struct CoxTruth {
  std::vector<double> grid;       ///< [G] equally spaced over the window
  std::vector<double> f;          ///< [G]
  std::vector<double> intensity;  ///< [G] upper/window sigma(f)
};

/// lambda(t) = upper/window sigma(f(t)), f ~ GP(0, r exp(-d^2/(2 l^2))), through inducing points as the model has them
/// (theory 1.2): u at 'inducing' equally spaced points, f its conditional mean.
struct CoxSettings {
  double upper = 50;        ///< m, events over the whole window (J.1: [0,1] stretched to [0,100], so m/100 in a unit)
  double window = 100;      ///< T
  double variance = 1.5;    ///< r
  double lengthscale = 10;  ///< l
  int inducing = 50;
  int grid = 1001;
  int sequences = 1;  ///< independent streams of the same intensity
};
struct CoxDraw {
  std::vector<SimulatedSequence> sequences;
  CoxTruth truth;
};
CoxDraw simulate_cox(const CoxSettings& settings, std::uint64_t seed, int type = 0);

/// The two clients of the paper's J.1: (r, l) = (1.5, 10) and (2, 8), m = 50 over the window [0,100]. Client c's events
/// have type c.
std::vector<CoxDraw> simulate_paper_cox(std::uint64_t seed);

/// Inhomogeneous Poisson by thinning. \param bound an upper bound of the intensity on the window
/// \throws UserError where the intensity is negative or above the bound
std::vector<SimulatedSequence> simulate_poisson(const std::function<double(double)>& intensity, double bound,
                                                Interval window, int sequences, std::uint64_t seed);

/// Hawkes with exponential kernel: lambda(t) = mu + sum_{t_i<t} alpha beta exp(-beta (t - t_i)), alpha < 1 children an
/// event.
struct HawkesSettings {
  double mu = 1, alpha = 0.5, beta = 2;
  double window = 100;
  int sequences = 1;
};
std::vector<SimulatedSequence> simulate_hawkes(const HawkesSettings& settings, std::uint64_t seed);

/// Neural Hawkes process (Mei & Eisner 2017): a continuous-time LSTM with random weights, for data like Conttime.
struct NeuralHawkesSettings {
  int types = 5;
  int hidden = 32;
  int shortest = 20, longest = 100;  ///< events of a sequence, uniform
  int sequences = 100;
};
std::vector<SimulatedSequence> simulate_neural_hawkes(const NeuralHawkesSettings& settings, std::uint64_t seed);

}  // namespace fedpp::data
