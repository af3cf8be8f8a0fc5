// The envelope of a checkpoint: one HDF5 file whose user block holds a text header with a checksum of all that follows.
// HDF5 can crash, hang or hand back wrong numbers on a damaged file, so verify() reads the file plainly before HDF5 may
// open it. Layout: io/README.md. What the arrays inside mean is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace fedpp::io {

inline constexpr std::uint64_t kCheckpointHeaderBytes = 512;
inline constexpr int kCheckpointFormat = 1;

/// A new HDF5 file with room for the header. Fill it, close() it, then commit() it.
File create_checkpoint(const std::string& path);

/// Computes the checksum of a closed file, writes the header, flushes file and folder to disk.
void seal(const std::string& path);

/// Throws io::Error, naming path and reason, unless the file is as sealed: foreign, not sealed, newer format,
/// truncated, longer, altered.
void verify(const std::string& path);

/// verify(), then opens for reading.
File open_checkpoint(const std::string& path);

/// seal(temporary), rename to `final_path` (replacing), flush the folder.
void commit(const std::string& temporary, const std::string& final_path);

struct CheckpointEntry {
  std::int64_t round = 0;
  std::string path;
};

/// "checkpoint-000040.h5" for 40.
std::string checkpoint_name(std::int64_t round);

/// Checkpoints in a folder by their names, oldest first. Nothing is opened. Throws where the folder cannot be read.
std::vector<CheckpointEntry> list_checkpoints(const std::string& directory);

/// The one with the largest round, not verified.
std::optional<CheckpointEntry> newest_checkpoint(const std::string& directory);

/// The newest that verifies; the reasons why newer ones were passed over go to `refused` (may be null).
std::optional<CheckpointEntry> newest_intact_checkpoint(const std::string& directory,
                                                        std::vector<std::string>* refused = nullptr);

/// Deletes all but the newest `keep` (>= 1), and leftovers of interrupted writes ("checkpoint-*.h5.partial").
void prune_checkpoints(const std::string& directory, std::int64_t keep);

}  // namespace fedpp::io
