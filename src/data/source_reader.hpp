// Sequences of a file joined with their windows, types filtered, time shifted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "data/client_data.hpp"
#include "data/dataset.hpp"
#include "io/sequence_file.hpp"

namespace fedpp::data {

/// A sequence as the file has it, after the filters that hold for everybody.
struct RawSequence {
  std::int64_t id = 0;
  std::int64_t position = 0;  ///< 0, 1, ... within its file; sequences with windows but no events come last in CSV
  std::vector<double> times;  ///< types kept, at or after 'drop_before', which is subtracted
  std::vector<int> types;
  bool has_windows = false;       ///< the file has a windows table
  std::vector<Interval> windows;  ///< disjoint, increasing, not touching, clipped at 'drop_before'
  int only_type = kNoEvents;      ///< the one kept type of its events, those before 'drop_before' included, or one of:
  static constexpr int kSeveralTypes = -1, kNoEvents = -2;
  std::int64_t client = -1;  ///< the file's number of its client; -1: the file does not say
  std::string name;          ///< the file's name of it, or ""
  std::int64_t dropped = 0;  ///< events before 'drop_before', of the types kept
};

/// What a file says of its numbers: only HDF5 does.
struct FileMeaning {
  io::SequenceNames names;
  std::string time_unit;
};
/// \throws UserError where the file cannot be read
FileMeaning read_meaning(const std::string& path);

/// Reads a file and its windows table ("": none, except what an HDF5 file holds itself) sequence by sequence. Where
/// there is a table every sequence must have windows, and sequences that only the table names come after the others.
/// Sequences all of whose events are of types left out are passed over (their positions stay counted).
/// \throws UserError for anything wrong in the files
void read_source(const Source& source, const config::Data& options, const std::function<void(RawSequence&)>& callback);

}  // namespace fedpp::data
