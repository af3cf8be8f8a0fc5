// A run's state in a checkpoint: written in step by all ranks, found, verified and read by any number of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/run_state.hpp"
#include "federation/session.hpp"
#include "io/hdf5.hpp"

namespace fedpp::federation {

/// Versions of a checkpoint's arrays (docs/file-formats.md, Versions of checkpoints). Additions that older versions may
/// pass over raise the first only; where a reader must know more, both rise.
inline constexpr std::int64_t kCheckpointLayout = 6, kCheckpointOldestReader = 6;

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

/// Whether it was written under another federation.mode, whose uploads and mixtures of models mean nothing now.
bool is_of_other_mode(const CheckpointHeader& header, const config::Config& config);

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

}  // namespace fedpp::federation
