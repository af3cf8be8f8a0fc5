// The state of a run between rounds: all that a checkpoint holds beside the clients' own states.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/score.hpp"
#include "federation/communities.hpp"
#include "federation/kept_state.hpp"
#include "federation/schedule.hpp"
#include "federation/session.hpp"
#include "io/hdf5.hpp"
#include "model/priors.hpp"

namespace fedpp::federation {

/// Layout of the arrays in a checkpoint (docs/file-formats.md). Additions that older versions may pass over raise the
/// first only; where a reader must know more, both rise.
inline constexpr std::int64_t kCheckpointLayout = 5, kCheckpointOldestReader = 1;

struct RunState {
  std::int64_t next_round = 0;
  model::Priors theta;                                      ///< the global distribution, and clients' own priors
  EarlyStopping stopping;                                   ///< best validated round
  model::Priors best_theta;                                 ///< theta after it
  std::map<std::int64_t, model::ClientState> best_clients;  ///< this rank's clients after it
  /// What a client's ELBO gained on a constant rate when it last took part, and on how many training events.
  struct Gain {
    double nats = 0, events = 0;
  };
  KeptUploads uploads;                                   ///< of this rank's clients, where they are needed later
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
  std::string configuration;  ///< JSON of every key (configuration_changes.hpp)
};

/// \throws UserError where a newer version's layout is too new for this one
void check_layout(const io::File& file);

/// Collective. DIR/checkpoint-NNNNNN.h5: rank 0 writes the shared part, then every rank in turn appends its clients;
/// sealed with a checksum and renamed when whole. Older ones than the newest `keep` are deleted; those that the
/// run had of this round and later ones are superseded (io/checkpoint_file.hpp), and rank 0 gets their new paths.
std::vector<std::string> write_checkpoint(Session& session, const RunState& state, const std::string& directory,
                                          std::int64_t keep);

/// What a checkpoint is read for: evaluate and predict, adapt, train --resume, the same with --accept-changes.
enum class ReadFor { kResults, kAdaptation, kTraining, kChangedTraining };

/// Collective. Verifies the file before HDF5 opens it; throws UserError with the purpose's remedy where it is damaged.
CheckpointHeader read_header(const std::string& path, ReadFor purpose, mpi::Communicator& world);

/// Collective. Any number of ranks. Throws where it belongs to another configuration, naming the keys that differ and
/// the purpose's remedy, or where clients' training data are others (for kTraining validation data, too); for
/// kChangedTraining only where the clients are others or the sizes do not fit (other data then start the search for the
/// best round anew).
RunState read_checkpoint(Session& session, const CheckpointHeader& header, ReadFor purpose);

/// Collective. Path of the newest checkpoint in output.directory, as rank 0 sees it: the ranks' listings of a folder in
/// which a run writes, or of a network's file system, may differ. Throws where there is none.
std::string newest_checkpoint_of(const config::Config& config, mpi::Communicator& world);

/// Collective. The newest checkpoint in output.directory that verifies; none where there are no checkpoints. On rank 0
/// the reasons why newer ones were passed over go to `refused`. Throws where there are some and all are damaged.
std::optional<std::string> newest_intact_of(const config::Config& config, mpi::Communicator& world,
                                            std::vector<std::string>* refused);

/// While it lives, the clients are in the state of the best round, if that is wanted and one was validated, or else of
/// the last; afterwards in the last again.
class SelectedState {
 public:
  SelectedState(Session& session, const RunState& state, KeptState wanted);
  ~SelectedState();
  SelectedState(const SelectedState&) = delete;
  SelectedState& operator=(const SelectedState&) = delete;

  KeptState which() const { return which_; }
  /// The rounds that it has behind it.
  std::int64_t rounds() const { return rounds_; }
  /// The one that belongs to it.
  const model::Priors& theta() const { return theta_; }

 private:
  void exchange() noexcept;

  Session& session_;
  KeptState which_;
  std::int64_t rounds_;
  const model::Priors& theta_;
  std::vector<model::ClientState> others_;  ///< of this rank's clients, where they are in the best round's
};

}  // namespace fedpp::federation
