// The scores of theory 1.8 and 3.3 from predictions that the caller supplies as plain arrays. Scores are kept as sums
// over a split, so that totals over clients are (sum of log-likelihoods) / (sum of events), never means of clients'
// scores.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "config/words.hpp"
#include "data/client_data.hpp"

namespace fedpp::evaluation {

using config::Protocol;

/// Log-likelihood sums (nats, before the division by events) and the number of events they are over.
struct Score {
  double headline = 0;  ///< sum_i n_i E[log lambda(t_i)] - int E[lambda]
  double plug_in = 0;   ///< sum_i n_i log E[lambda(t_i)] - int E[lambda]
  double events = 0;    ///< sum_i n_i

  Score& operator+=(const Score& other);
  double headline_per_event() const { return per_event(headline); }  ///< NaN without events
  double plug_in_per_event() const { return per_event(plug_in); }

 private:
  double per_event(double sum) const { return events > 0 ? sum / events : std::numeric_limits<double>::quiet_NaN(); }
};

/// A client's sums.
struct ClientScore {
  std::int64_t client = 0;
  Score score;
};

/// Predictions of one held-out realisation on the model's clock.
struct Prediction {
  std::span<const double> expected_log_intensity;    ///< [N] E[log lambda(t_i)]
  std::span<const double> log_expected_intensity;    ///< [N] log E[lambda(t_i)]
  std::span<const double> expected_intensity_nodes;  ///< [Q] E[lambda(t_q)]
};

/// Both scores of theory 1.8 of one held-out realisation, in the unit of time that its log_offsets lead to (the
/// file's). The integral has no unit. Sums run in the order of the arrays, so the bits do not depend on who calls.
Score score(const data::Realisation& held_out, const Prediction& prediction);

/// The score of protocol 'published-code' (theory 3.3): sum_i n_i log1p(lambda(t_i)) - int lambda, with the plug-in
/// intensity m sigma(mu) (model clock) at events [N] and nodes [Q]. log1p depends on the unit of time: the
/// realisation's log_offsets must hold log(scale) alone, and its node weights no exposure. Both members of the result
/// are this one score.
Score published_code_score(const data::Realisation& held_out, std::span<const double> intensity_events,
                           std::span<const double> intensity_nodes);

/// The sum over clients, taken in increasing order of the client's number whatever the order given.
Score total(std::vector<ClientScore> clients);

}  // namespace fedpp::evaluation
