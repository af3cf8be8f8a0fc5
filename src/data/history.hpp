// Realisations for history encoders (theory 1.1, 1.7): streams stay apart, each point knows its place in the history,
// and quadrature runs from event to event.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/client_data.hpp"
#include "data/exposure.hpp"

namespace fedpp::data {

struct RealisationRules;

/// The scale of the gaps between events, common to all clients: mean and sd of the logarithms of positive gaps between
/// training tokens, model clock.
struct GapScale {
  double mean = 0, sd = 1;
  /// Gaps well below it are not told apart: log(gap + floor) is what an encoder sees, and the quadrature's variable.
  double floor() const;
};

/// Sums that a GapScale is made of, over one client's training tokens.
struct GapSums {
  double count = 0, sum = 0, squares = 0;
};
GapSums gap_sums(const ClientData& client, const Clock& clock);
/// mean 0, sd 1 without gaps; sd at least 0.1.
GapScale gap_scale(const GapSums& all);

/// As make_realisations (data/realisation.hpp), for an encoder that reads the history. With periodic inputs a cell is at
/// most a quarter of the shortest period, up to 32 cells an interval.
/// \param pieces of each interval: 1 where a model is trained, more where it is scored. Intervals end at events, where
/// gaps are alike a model learns a peak there that is narrower than its training's nodes see, and a score must count
/// it: pieces have a node at their end (Gauss-Radau), so that an unresolved peak costs too much rather than nothing.
std::vector<Realisation> history_realisations(const ClientData& client, const RealisationRules& rules,
                                              std::span<const Split> splits, double tempering, int pieces = 1);

/// Nodes and weights for int_a^b g(t) dt, 0 <= a - last < b - last, where g varies on the scale of log(t - last +
/// floor): the rule on [-1,1] in that variable, two nodes and one more for each of its units, `most` at the most.
void append_interval(double last, double a, double b, double floor, int most, const Quadrature& (*rule)(int),
                     std::vector<double>& nodes, std::vector<double>& weights);

/// The position of time t in a stream: its number and the tokens strictly before t.
HistoryPosition position(const std::vector<Stream>& streams, int stream, double t);

}  // namespace fedpp::data
