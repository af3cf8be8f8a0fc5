// The state of a run between rounds: all that a checkpoint holds beside the clients' own states.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "evaluation/score.hpp"
#include "federation/communities.hpp"
#include "federation/round_history.hpp"
#include "federation/schedule.hpp"
#include "model/client.hpp"
#include "model/priors.hpp"

namespace fedpp::federation {

/// What a client's ELBO gained on a constant rate when it last took part, and on how many training events.
struct Gain {
  double nats = 0, events = 0;
};

struct RunState {
  std::int64_t next_round = 0;
  model::Priors theta;                                      ///< the global distribution, and clients' own priors
  EarlyStopping stopping;                                   ///< best validated round
  model::Priors best_theta;                                 ///< theta after it
  std::map<std::int64_t, model::WeightState> best_clients;  ///< this rank's clients after it
  KeptUploads uploads;                                      ///< of this rank's clients, where they are needed later
  std::map<std::int64_t, Gain> gains;                       ///< this rank's clients that took part
  std::map<std::int64_t, evaluation::Score> validation;     ///< this rank's clients' latest validation scores
  RoundHistory rounds;                                      ///< on rank 0
  double bandwidth = 1;                                     ///< d of mmd, of the last aggregation
  std::string prior_from;  ///< checkpoint whose theta is the fixed prior of an adapted run; "": the initial prior
};

}  // namespace fedpp::federation
