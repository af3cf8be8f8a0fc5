// The HDF5 file of sequences that `fedpp import` makes (layout: io/README.md): written in one pass with bounded memory
// and sealed, read whole or sequence by sequence, so that a rank reads only its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/event_reader.hpp"
#include "io/sealed_file.hpp"
#include "io/window_counts.hpp"

namespace fedpp::io {

inline constexpr SealedKind kSequences{"fedpp sequences", 1, "a file of sequences made by 'fedpp import'",
                                       "; copy or import it again"};

/// Whether a file of sequences is to be verified before HDF5 opens it. One without a seal, of another program or of a
/// fedpp older than the seal, begins as HDF5 does; a child process reads it first.
bool is_sealed(const std::string& path);

/// What the numbers of a file stand for; without words in the table that it was made of, empty.
struct SequenceNames {
  std::vector<std::string> clients;  ///< [clients] where each sequence belongs to one
  std::vector<std::string> types;    ///< [types] of event
  std::string time_origin;           ///< date of time 0, as 2019-03-01T06:30:00

  bool operator==(const SequenceNames&) const = default;
};

/// Streams sequences into a partial file, which close() seals and puts at `path`. Without close() nothing is left.
class SequenceFileWriter {
 public:
  /// `sources`: names of the files that the sequences come from; `time_unit`: its name, for tables and axes. With
  /// `names.clients` every sequence must have a client of these.
  SequenceFileWriter(const std::string& path, const std::vector<std::string>& sources, const std::string& time_unit,
                     const SequenceNames& names = {});
  ~SequenceFileWriter();
  SequenceFileWriter(SequenceFileWriter&&) noexcept;
  SequenceFileWriter& operator=(SequenceFileWriter&&) noexcept;

  /// Appends a sequence. Throws where its times or types are not legal, its id is there already, or it has neither
  /// events nor windows.
  void append(const SequenceRecord& sequence, std::span<const Window> windows = {});
  std::int64_t sequences() const;
  std::int64_t events() const;
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads such a file. The constructor verifies the seal, or without one has a child process read the whole file
/// (guarded_read.hpp), then reads and checks ids and offsets (16 bytes a sequence, windows 8 more).
/// Sequences are served from a block of events that is kept, so going upwards is fast whether all or only some are
/// asked for. Not for several threads at once.
class SequenceFileReader {
 public:
  explicit SequenceFileReader(const std::string& path);

  std::int64_t sequences() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t events() const { return offsets_.back(); }
  const std::vector<std::int64_t>& ids() const { return ids_; }  ///< [sequences], file order
  bool has_windows() const { return !window_offsets_.empty(); }
  const std::string& time_unit() const { return time_unit_; }
  const std::vector<std::string>& sources() const { return sources_; }
  const SequenceNames& names() const { return names_; }

  /// The sequence number `index` (from 0) of the file. Checked: times finite and sorted, types legal.
  SequenceRecord sequence(std::int64_t index) const;
  /// Its windows; empty where it has none.
  std::vector<Window> windows(std::int64_t index) const;
  /// All sequences in file order; at most `max_sequences` (0: all).
  void for_each(const SequenceCallback& callback, std::int64_t max_sequences = 0) const;

 private:
  SequenceFileReader(const std::string& path, File file);
  static File open(const std::string& path);
  /// Reads every array whole, piece by piece.
  void touch_all() const;
  /// Has the events of a sequence in the block.
  void hold(std::int64_t index) const;
  void load_block(std::int64_t first, std::int64_t last) const;
  /// Has these windows in their block.
  void hold_windows(std::int64_t first, std::int64_t last) const;
  void require_index(std::int64_t index) const;
  void read_names();

  std::string path_;
  File file_;
  std::vector<std::int64_t> ids_, offsets_, window_offsets_;
  std::string time_unit_;
  std::vector<std::string> sources_;
  SequenceNames names_;
  std::vector<std::int64_t> clients_;        // [sequences], or empty
  std::vector<std::string> sequence_names_;  // [sequences], or empty
  // Events [block_start_, block_start_ + block_times_.size()) of the file.
  mutable std::int64_t block_start_ = 0;
  mutable std::vector<double> block_times_;
  mutable std::vector<std::int64_t> block_types_;
  // Windows from window_block_start_ on.
  mutable std::int64_t window_block_start_ = 0;
  mutable std::vector<double> block_starts_, block_ends_;
};

/// What `fedpp info` prints about a file of sequences.
struct SequenceSummary {
  std::int64_t sequences = 0, events = 0;
  std::int64_t types = 0;                  ///< K: one more than the largest type
  std::int64_t shortest = 0, longest = 0;  ///< events in a sequence
  double mean_length = 0;
  double first_time = 0, last_time = 0;   ///< over all events (0, 0 without events)
  std::int64_t ties = 0;                  ///< gaps of zero between neighbours of a sequence
  std::int64_t repeated = 0;              ///< events with the time and type of an earlier one of their sequence
  std::int64_t timeless = 0;              ///< sequences of several events, all at one time
  std::int64_t first_timeless_line = 0;   ///< where the first of them begins; 0 in HDF5
  std::vector<std::int64_t> type_counts;  ///< [K] events of each type
  // What only HDF5 says:
  std::string time_unit;
  SequenceNames names;
  std::vector<std::int64_t> client_sequences, client_events;  ///< [names.clients]
  WindowCounts windows;
  std::int64_t gaps = 0;  ///< between neighbours of a sequence
};

/// One pass over a file of any format that read_sequences takes.
SequenceSummary summarise(const std::string& path);

}  // namespace fedpp::io
