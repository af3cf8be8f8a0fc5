// How the rounds change the learning rate, and when they end.
#pragma once

#include <cstdint>
#include <limits>

#include "config/options.hpp"

namespace fedpp::federation {

/// Factor on the learning rates in `round` (0-based) of `rounds`: constant 1; cosine (1 + cos(pi round/rounds))/2, from
/// 1 down to almost 0; inverse-sqrt 1/sqrt(1 + round).
double learning_rate_factor(config::Schedule schedule, std::int64_t round, std::int64_t rounds);

/// Whether `round` (0-based) is validated: every federation.validate_every rounds and at the end.
inline bool is_validated(const config::Federation& federation, std::int64_t round) {
  const auto every = federation.validate_every;
  return every > 0 && ((round + 1) % every == 0 || round + 1 == federation.rounds);
}

/// Whether `client`, of `clients` in all, has its turn after `round`, which is validated: the clients that have not yet
/// taken part take turns, about as many in each as a round has participants. Only theta changes their scores.
inline bool has_its_turn(const config::Federation& federation, std::int64_t clients, std::int64_t client,
                         std::int64_t round) {
  const auto participants = federation.participants;
  const auto turns = participants > 0 && participants < clients ? (clients + participants - 1) / participants : 1;
  return (client + round / federation.validate_every) % turns == 0;
}

/// The best validated round so far and whether to go on. Plain data: it is part of a checkpoint.
struct EarlyStopping {
  std::int64_t patience = 0;     ///< stop after so many validations without improvement; 0: never
  std::int64_t best_round = -1;  ///< -1: none yet
  double best_score = -std::numeric_limits<double>::infinity();
  std::int64_t best_missing = 0;  ///< clients without a score in it
  std::int64_t validations_since_best = 0;

  /// Enters the validation score of `round` (higher is better; one that is not finite is no improvement), of all
  /// clients but those that could not be scored. A round that misses fewer is better than any that misses more, which
  /// may owe its score to that. True if it is the new best: keep that round's state. Equals keep the earlier round.
  bool enter(std::int64_t round, double score, std::int64_t missing = 0);
  bool should_stop() const { return patience > 0 && validations_since_best >= patience; }
};

}  // namespace fedpp::federation
