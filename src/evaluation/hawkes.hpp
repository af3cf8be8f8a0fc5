// The exponential Hawkes process lambda(t) = mu + sum_{t_j < t} alpha beta exp(-beta (t - t_j)), one of the trivial
// models of theory 3.3 for 'chronological': its parameters are shared by a client's sequences.
#pragma once

#include <array>

#include "data/client_data.hpp"

namespace fedpp::evaluation {

struct HawkesParameters {
  double base = 1;       ///< mu > 0, events per file unit
  double branching = 0;  ///< alpha >= 0, mean number of events that one event excites
  double decay = 1;      ///< beta > 0, per file unit
};

/// Sum over the client's sequences of sum log lambda(t_i) over the events counted in `split` minus int lambda over its
/// windows. The history is given one step ahead: every strictly earlier time of the sequence excites, whatever its
/// split; equal times do not excite each other. O(N). `gradient`, if given, receives the derivatives by (mu, alpha,
/// beta).
double hawkes_log_likelihood(const data::ClientData& client, data::Split split, const HawkesParameters& parameters,
                             std::array<double, 3>* gradient = nullptr);

/// Maximum likelihood on the client's training windows: BFGS in the logarithms of the parameters from three time
/// scales, the best end kept. Never below the homogeneous rate. Needs an event and positive time in the training
/// windows; without either, mu is half an event per observed time (one if none) and alpha is 0.
HawkesParameters fit_hawkes(const data::ClientData& client);

}  // namespace fedpp::evaluation
