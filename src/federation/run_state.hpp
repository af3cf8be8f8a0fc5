// The state of a run between rounds: all that a checkpoint holds beside the clients' own states.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "evaluation/score.hpp"
#include "federation/schedule.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

struct RunState {
  std::int64_t next_round = 0;
  model::WeightPosterior theta;                             ///< the global distribution
  EarlyStopping stopping;                                   ///< best validated round
  model::WeightPosterior best_theta;                        ///< theta after it
  std::map<std::int64_t, model::ClientState> best_clients;  ///< this rank's clients after it
  /// What a client's ELBO gained on a constant rate when it last took part, and on how many training events.
  struct Gain {
    double nats = 0, events = 0;
  };
  std::map<std::int64_t, Gain> gains;                    ///< this rank's clients that took part
  std::map<std::int64_t, evaluation::Score> validation;  ///< this rank's clients' latest validation scores
  nlohmann::json rounds = nlohmann::json::array();       ///< history, as in result.json
  double bandwidth = 1;                                  ///< d of mmd, of the last aggregation
  std::string prior_from;  ///< checkpoint whose theta is the fixed prior of an adapted run; "": the initial prior
};

/// What has to be known of a checkpoint before a session can be built on it.
struct CheckpointHeader {
  std::string path;
  std::optional<data::InputScale> inputs;  ///< none in checkpoints of versions that did not keep it
  std::int64_t next_round = 0;
  std::string configuration;  ///< JSON of the keys that a resumed run must share
};

/// Collective. DIR/checkpoint-NNNNNN.h5: rank 0 writes the shared part, then every rank in turn appends its clients;
/// sealed with a checksum and renamed when whole. Older ones than the newest `keep` are deleted.
void write_checkpoint(Session& session, const RunState& state, const std::string& directory, std::int64_t keep);

/// Collective. Verifies the file before HDF5 opens it; throws UserError with a remedy where it is damaged.
CheckpointHeader read_header(const std::string& path, mpi::Communicator& world);

/// Collective. Any number of ranks. Throws where it belongs to another configuration, naming the keys that differ.
RunState read_checkpoint(Session& session, const CheckpointHeader& header);

/// Collective. Path of the newest checkpoint in output.directory. Throws where there is none.
std::string newest_checkpoint_of(const config::Config& config, mpi::Communicator& world);

/// Sets the clients to the best round's state, or leaves them at the last; returns the theta that belongs to it.
const model::WeightPosterior& select_state(Session& session, const RunState& state, bool best);

}  // namespace fedpp::federation
