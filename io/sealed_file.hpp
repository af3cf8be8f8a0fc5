// Sealed files: HDF5 whose user block holds a text header with a checksum of all that follows. HDF5 can crash, hang or
// hand back wrong numbers on a damaged file, so verify() reads the file plainly before HDF5 may open it. Layout:
// io/README.md. What the arrays inside mean is the caller's.
#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5.hpp"
#include "io/partial_file.hpp"

namespace fedpp::io {

inline constexpr std::uint64_t kSealBytes = 512;

/// One kind of sealed files.
struct SealedKind {
  const char* magic;   ///< the first line of the header
  int format;          ///< its format version
  const char* what;    ///< such a file in a sentence: "a checkpoint of fedpp"
  const char* remedy;  ///< ends the refusal of a damaged one: "; copy it again", or "" where callers know better
};

/// An HDF5 file with room for the header. Fill it, close() it, then commit() it, or seal() it in the process that wrote
/// to it last.
File create_unsealed(const PartialFile& partial);

/// Computes the checksum of a closed file, writes the header, flushes the file to disk.
void seal(const std::string& path, const SealedKind& kind);
void seal(const PartialFile& partial, const SealedKind& kind);

/// Throws io::Error, naming path, reason and remedy, unless the file is as sealed: foreign, not sealed, of a newer
/// format, truncated, longer, altered.
void verify(const std::string& path, const SealedKind& kind);

/// verify(), then opens for reading.
File open_sealed(const std::string& path, const SealedKind& kind);

/// Seals the file and puts it in its place.
void commit(PartialFile& partial, const SealedKind& kind);

}  // namespace fedpp::io
