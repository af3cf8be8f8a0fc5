// Event sequences and observation windows from the formats that users bring, one sequence at a time (io/README.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/error.hpp"

namespace fedpp::io {

/// One sequence in file order. Times are finite and not decreasing (ties are legal), types in [0, kLargestType].
struct SequenceRecord {
  std::int64_t id = 0;
  std::vector<double> times;
  std::vector<int> types;       ///< as long as times; all 0 where the file has none
  std::int64_t first_line = 0;  ///< line of the file where it starts; 0 in HDF5
  std::int64_t client = -1;     ///< whose it is, from 0, where an HDF5 file says so; -1: not said
  /// Who it is of, where an HDF5 file says so.
  std::string name{};  // NOLINT(readability-redundant-member-init): GCC warns of records that leave it out
};

/// Several events, all at one time: no time passes in it.
inline bool is_timeless(const SequenceRecord& sequence) {
  return sequence.times.size() > 1 && sequence.times.front() == sequence.times.back();
}

/// How many of its events have the time and the type of an earlier one.
std::int64_t repeated_events(const SequenceRecord& sequence);

inline constexpr int kLargestType = 999'999;

/// An observation window, start < end, in the file's unit of time.
struct Window {
  double start = 0, end = 0;
};

/// The windows of one sequence: increasing and disjoint (touching is legal).
struct SequenceWindows {
  std::int64_t id = 0;
  std::vector<Window> windows;
  std::int64_t first_line = 0;
};

/// Takes one sequence; it may move from the record.
using SequenceCallback = std::function<void(SequenceRecord&)>;

/// Reads the sequences of a file in its order, holding one at a time; at most `max_sequences` (0: all).
/// Format by suffix: .csv, .csv.gz (header with columns sequence,time[,type]); .jsonl, .jsonl.gz (one object a line
/// with arrays time_since_start, type_event and optionally seq_idx; without it the object's number from 0 is the id);
/// .json, .json.gz (an array of such objects, or lines); .h5, .hdf5 (made by `fedpp import`; sequences that have
/// windows but no events come too). Throws io::Error "path:line: ..." for unsorted, NaN or infinite times, types that
/// are negative, not integers or above kLargestType, a sequence that reappears after another, sequences without events,
/// arrays of different lengths, missing columns, and files without any sequence.
void read_sequences(const std::string& path, const SequenceCallback& callback, std::int64_t max_sequences = 0);

/// Reads a windows table, CSV sequence,start,end (plain or gzip), one row a window, rows of a sequence together; or the
/// windows stored in an HDF5 sequence file (none: empty).
std::vector<SequenceWindows> read_windows(const std::string& path);

}  // namespace fedpp::io
