#include "io/event_pieces.hpp"

#include <cassert>

namespace fedpp::io {
namespace {

/// Where the piece that begins at `begin` ends.
std::size_t end_of_piece(const std::vector<double>& times, std::size_t begin, const PieceLengths& lengths) {
  const std::size_t end = begin + static_cast<std::size_t>(lengths.longest);
  if (end >= times.size()) return times.size();
  const std::size_t fewest = begin + static_cast<std::size_t>(lengths.shortest);
  for (std::size_t e = end; e >= fewest; --e) {
    if (times[e] != times[e - 1]) return e;
  }
  return end;
}

}  // namespace

void cut_into_pieces(const SequenceRecord& sequence, const PieceLengths& lengths, const SequenceCallback& callback,
                     PieceCounts& counts) {
  assert(1 <= lengths.shortest && lengths.shortest <= lengths.longest);
  const std::vector<double>& times = sequence.times;
  for (std::size_t begin = 0; begin < times.size();) {
    const std::size_t end = end_of_piece(times, begin, lengths);
    if (end < times.size() && times[end] == times[end - 1]) ++counts.cut_ties;
    if (end - begin < static_cast<std::size_t>(lengths.shortest)) {
      ++counts.dropped_pieces;
      counts.dropped_events += static_cast<std::int64_t>(end - begin);
    } else {
      const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
      SequenceRecord piece{counts.pieces++,
                           {times.begin() + from, times.begin() + to},
                           {sequence.types.begin() + from, sequence.types.begin() + to},
                           sequence.first_line,
                           sequence.client,
                           sequence.name};
      callback(piece);
    }
    begin = end;
  }
}

}  // namespace fedpp::io
