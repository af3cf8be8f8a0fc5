// Checkpoints by their names in a folder: listed, the newest intact one, old ones deleted. The files are sealed
// (io/sealed_file.hpp); what the arrays inside mean is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/sealed_file.hpp"

namespace fedpp::io {

inline constexpr SealedKind kCheckpoint{"fedpp checkpoint", 1, "a checkpoint of fedpp", ""};

struct CheckpointEntry {
  std::int64_t round = 0;
  std::string path;

  bool operator==(const CheckpointEntry&) const = default;
};

/// "checkpoint-000040.h5" for 40.
std::string checkpoint_name(std::int64_t round);

/// The round in the name of a checkpoint; nothing for any other name.
std::optional<std::int64_t> round_in_name(const std::string& path);

/// Checkpoints in a folder by their names, oldest first. Nothing is opened. Throws where the folder cannot be read.
std::vector<CheckpointEntry> list_checkpoints(const std::string& directory);

/// The one with the largest round, not verified.
std::optional<CheckpointEntry> newest_checkpoint(const std::string& directory);

/// The newest that verifies; the reasons why newer ones were passed over go to `refused` (may be null).
std::optional<CheckpointEntry> newest_intact_checkpoint(const std::string& directory,
                                                        std::vector<std::string>* refused = nullptr);

/// Deletes all but the newest `keep` (>= 1).
void prune_checkpoints(const std::string& directory, std::int64_t keep);

/// Deletes partial files of checkpoints, for whoever has locked the folder: then nobody is at work on one, and those
/// that are there were left by runs that were killed.
void delete_interrupted_checkpoints(const std::string& directory);

/// Checkpoints of this round and later ones become "checkpoint-000060.h5.superseded" (".superseded.2" where there is
/// one), which counts as no checkpoint. Returns their new paths.
std::vector<std::string> supersede_checkpoints(const std::string& directory, std::int64_t from);

}  // namespace fedpp::io
