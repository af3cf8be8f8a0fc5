#include "data/history.hpp"

#include <algorithm>
#include <cmath>

#include "data/exposure.hpp"
#include "data/realisation.hpp"

namespace fedpp::data {
namespace {

constexpr int kNodesAnInterval = 8;
constexpr int kCellsPerPeriod = 4, kMostCells = 32;

/// Nodes of an interval that no event parts, in equal cells of time as long as its periods ask for, and each of these in
/// equal pieces of the logarithm of the gap.
void append_pieces(double last, Interval all, const RealisationRules& rules, int pieces, Realisation& result) {
  const double length = all.end - all.start, floor = rules.gaps.floor();
  const int most = rules.nodes > 0 ? static_cast<int>(rules.nodes) : kNodesAnInterval;
  const double wanted = rules.period > 0 ? std::ceil(kCellsPerPeriod * length / rules.period) : 1;
  const int cells = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostCells)));
  const int parts = std::max(1, pieces / cells);
  const auto rule = pieces > 1 ? cached_gauss_radau : cached_gauss_legendre;
  double a = all.start;
  for (int cell = 0; cell < cells; ++cell) {
    const double end = cell + 1 == cells ? all.end : all.start + length * (cell + 1) / cells;
    const double ratio = std::pow((end - last + floor) / (a - last + floor), 1.0 / parts);
    for (int part = 0; part < parts && a < end; ++part) {
      const double b = part + 1 == parts ? end : std::min(end, last - floor + (a - last + floor) * ratio);
      if (!(a < b)) continue;
      append_interval(last, a, b, floor, most, rule, result.nodes, result.node_weights);
      a = b;
    }
  }
}

/// Events, nodes and history of one sequence in the splits named, added to a realisation as its next stream.
void add_stream(Realisation& result, const ClientSequence& sequence, const RealisationRules& rules,
                std::span<const Split> splits, double tempering, int pieces) {
  const int number = static_cast<int>(result.streams.size());
  const auto events = marked_events(sequence, rules, splits);
  const auto own = windows_of(sequence, rules.clock, splits);

  // The history reaches to the end of these splits, or of training where the sequence has no part in them: inducing
  // points need it.
  Stream stream;
  const Split from = sequence.windows[kTrain].empty() ? kTest : kTrain;
  const auto first_window =
      sequence.windows[from].empty() ? sequence.times.front() : sequence.windows[from].front().start;
  stream.start = to_model(rules.clock, sequence,
                          std::min(sequence.times.empty() ? first_window : sequence.times.front(), first_window));
  double end = own.empty() ? stream.start : own.back().end;
  if (!sequence.windows[kTrain].empty())
    end = std::max(end, to_model(rules.clock, sequence, sequence.windows[kTrain].back().end));
  for (std::size_t j = 0; j < sequence.times.size(); ++j) {
    const double t = to_model(rules.clock, sequence, sequence.times[j]);
    if (t > end) break;
    stream.times.push_back(t);
    stream.types.push_back(sequence.history_types.empty() ? 0 : sequence.history_types[j]);
  }
  result.streams.push_back(std::move(stream));
  const auto& tokens = result.streams.back().times;

  for (std::size_t j = 0; j < events.size(); ++j) {
    const bool tied = j > 0 && events[j].time == events[j - 1].time;
    add_event(result, events[j], tied, rules, tempering);
    if (tied) continue;
    result.log_offsets.push_back(std::log(rules.clock.scale));
    result.event_history.push_back(position(result.streams, number, events[j].time));
  }
  for (const Interval& window : own) {
    double a = window.start;
    while (a < window.end) {
      const auto next = std::upper_bound(tokens.begin(), tokens.end(), a);
      const double b = next == tokens.end() ? window.end : std::min(*next, window.end);
      const int before = static_cast<int>(next - tokens.begin());
      const double last = before > 0 ? tokens[before - 1] : result.streams.back().start;
      append_pieces(last, {a, b}, rules, pieces, result);
      result.node_history.resize(result.nodes.size(), {number, before});
      a = b;
    }
  }
  if (own.empty()) return;
  result.span = result.span.start < result.span.end ? Interval{std::min(result.span.start, own.front().start),
                                                               std::max(result.span.end, own.back().end)}
                                                    : Interval{own.front().start, own.back().end};
}

}  // namespace

double GapScale::floor() const { return std::exp(mean - 3 * sd); }

GapSums gap_sums(const ClientData& client, const Clock& clock) {
  GapSums sums;
  for (const ClientSequence& sequence : client.sequences) {
    if (sequence.windows[kTrain].empty()) continue;
    for (std::size_t j = 1; j < sequence.times.size(); ++j) {
      if (sequence.times[j] > sequence.windows[kTrain].back().end) break;
      const double gap = (sequence.times[j] - sequence.times[j - 1]) * clock.scale;
      if (!(gap > 0)) continue;
      const double x = std::log(gap);
      sums.count += 1;
      sums.sum += x;
      sums.squares += x * x;
    }
  }
  return sums;
}

GapScale gap_scale(const GapSums& all) {
  if (!(all.count > 0)) return {};
  const double mean = all.sum / all.count;
  return {mean, std::max(0.1, std::sqrt(std::max(0.0, all.squares / all.count - mean * mean)))};
}

HistoryPosition position(const std::vector<Stream>& streams, int stream, double t) {
  const auto& times = streams[stream].times;
  return {stream, static_cast<int>(std::lower_bound(times.begin(), times.end(), t) - times.begin())};
}

void append_interval(double last, double a, double b, double floor, int most, const Quadrature& (*rule_of)(int),
                     std::vector<double>& nodes, std::vector<double>& weights) {
  const double low = std::log(a - last + floor), high = std::log(b - last + floor);
  if (!(high > low)) {  // a gap at the level of rounding: as one point
    nodes.push_back(b);
    weights.push_back(b - a);
    return;
  }
  const int n = std::clamp(2 + static_cast<int>(high - low), 1, most);
  const Quadrature& rule = rule_of(n);
  const double half = 0.5 * (high - low), centre = 0.5 * (low + high);
  double total = 0;
  const std::size_t first = weights.size();
  for (int k = 0; k < n; ++k) {
    const double x = std::exp(centre + half * rule.nodes[k]);
    nodes.push_back(rule.nodes[k] == 1 ? b : std::clamp(last + x - floor, a, b));
    weights.push_back(half * rule.weights[k] * x);
    total += weights.back();
  }
  // A constant is integrated exactly: what the rule leaves of the length is spread over its weights.
  for (std::size_t k = first; k < weights.size(); ++k) weights[k] *= (b - a) / total;
}

std::vector<Realisation> history_realisations(const ClientData& client, const RealisationRules& rules,
                                              std::span<const Split> splits, double tempering, int pieces) {
  std::vector<Realisation> realisations(rules.pooled ? 1 : 0);
  for (const ClientSequence& sequence : client.sequences) {
    if (!rules.pooled) realisations.emplace_back();
    add_stream(realisations.back(), sequence, rules, splits, tempering, pieces);
  }
  for (Realisation& r : realisations)
    for (double& weight : r.node_weights) weight *= tempering;
  return realisations;
}

}  // namespace fedpp::data
