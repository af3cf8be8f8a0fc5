#include "io/event_pieces.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fedpp::io {
namespace {

SequenceRecord sequence_of(std::vector<double> times) {
  SequenceRecord sequence{7, std::move(times), {}, 3};
  for (std::size_t i = 0; i < sequence.times.size(); ++i) sequence.types.push_back(static_cast<int>(i));
  return sequence;
}

std::vector<SequenceRecord> pieces_of(const SequenceRecord& sequence, PieceLengths lengths, PieceCounts& counts) {
  std::vector<SequenceRecord> pieces;
  cut_into_pieces(sequence, lengths, [&](SequenceRecord& piece) { pieces.push_back(std::move(piece)); }, counts);
  return pieces;
}

TEST(EventPieces, WithoutTiesPlainRunsOfEvents) {
  std::vector<double> times(12);
  for (int i = 0; i < 12; ++i) times[i] = 100 + i;
  PieceCounts counts;
  const auto pieces = pieces_of(sequence_of(times), {3, 5}, counts);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].times, (std::vector<double>{100, 101, 102, 103, 104}));
  EXPECT_EQ(pieces[1].times, (std::vector<double>{105, 106, 107, 108, 109}));
  EXPECT_EQ(pieces[1].types, (std::vector<int>{5, 6, 7, 8, 9}));
  EXPECT_EQ(pieces[1].id, 1);
  EXPECT_EQ(counts.dropped_pieces, 1);
  EXPECT_EQ(counts.dropped_events, 2);
  EXPECT_EQ(counts.cut_ties, 0);
}

TEST(EventPieces, NumbersGoOnWithTheNextSequence) {
  PieceCounts counts;
  pieces_of(sequence_of({1, 2, 3, 4}), {2, 2}, counts);
  EXPECT_EQ(pieces_of(sequence_of({1, 2}), {2, 2}, counts).at(0).id, 2);
}

TEST(EventPieces, EqualTimesStayTogether) {
  PieceCounts counts;
  const auto pieces = pieces_of(sequence_of({1, 2, 3, 4, 4, 4, 5}), {2, 5}, counts);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].times, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(pieces[1].times, (std::vector<double>{4, 4, 4, 5}));
  EXPECT_EQ(counts.cut_ties, 0);
}

TEST(EventPieces, TieThatLeavesTooFewIsCut) {
  PieceCounts counts;
  const auto pieces = pieces_of(sequence_of({1, 4, 4, 4, 4, 4, 5}), {2, 5}, counts);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].times, (std::vector<double>{1, 4, 4, 4, 4}));
  EXPECT_EQ(pieces[1].times, (std::vector<double>{4, 5}));
  EXPECT_EQ(counts.cut_ties, 1);
}

// Against the rule written event by event: a piece is closed at the last change of time that leaves it long enough.
TEST(EventPieces, RandomSequencesAgainstAPlainLoop) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const PieceLengths lengths{1 + static_cast<int>(random() % 6), 6 + static_cast<int>(random() % 6)};
    std::vector<double> times(1 + random() % 60);
    double time = 0;
    for (double& t : times) t = time += static_cast<double>(random() % 3 == 0);  // two thirds are ties
    PieceCounts counts, expected;
    const auto pieces = pieces_of(sequence_of(times), lengths, counts);

    std::vector<std::vector<double>> plain;
    std::vector<double> rest = times;
    while (!rest.empty()) {
      std::size_t length = rest.size();
      if (rest.size() > static_cast<std::size_t>(lengths.longest)) {
        length = 0;
        for (int n = static_cast<int>(lengths.shortest); n <= lengths.longest; ++n) {
          if (rest[n] > rest[n - 1]) length = n;
        }
        if (length == 0) {
          length = lengths.longest;
          ++expected.cut_ties;
        }
      }
      if (length < static_cast<std::size_t>(lengths.shortest)) {
        ++expected.dropped_pieces;
        expected.dropped_events += static_cast<int>(length);
      } else {
        plain.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length));
      }
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length));
    }
    ASSERT_EQ(pieces.size(), plain.size());
    for (std::size_t p = 0; p < plain.size(); ++p) EXPECT_EQ(pieces[p].times, plain[p]);
    EXPECT_EQ(counts.pieces, static_cast<std::int64_t>(plain.size()));
    EXPECT_EQ(counts.dropped_pieces, expected.dropped_pieces);
    EXPECT_EQ(counts.dropped_events, expected.dropped_events);
    EXPECT_EQ(counts.cut_ties, expected.cut_ties);
  }
}

}  // namespace
}  // namespace fedpp::io
