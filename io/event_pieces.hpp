// Long sequences cut into consecutive pieces by numbers of events.
#pragma once

#include <cstdint>

#include "io/event_reader.hpp"

namespace fedpp::io {

/// Events of a piece: at least `shortest`, at most `longest`; 1 <= shortest <= longest.
struct PieceLengths {
  std::int64_t shortest = 1, longest = 1;
};

/// What became of the sequences cut so far.
struct PieceCounts {
  std::int64_t pieces = 0;
  std::int64_t dropped_pieces = 0, dropped_events = 0;  ///< pieces below `shortest`, and their events
  std::int64_t cut_ties = 0;                            ///< cuts between events at equal times
};

/// Cuts a sequence from its beginning into pieces of `longest` events and hands on those of at least `shortest`. Events
/// at equal times stay together: such a piece ends before them, unless it would fall below `shortest`; then it is cut
/// within the tie. Pieces keep the times of the file, are numbered on from counts.pieces and have the sequence's first
/// line, client and name. Linear in the events.
void cut_into_pieces(const SequenceRecord& sequence, const PieceLengths& lengths, const SequenceCallback& callback,
                     PieceCounts& counts);

}  // namespace fedpp::io
