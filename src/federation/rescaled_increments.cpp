#include "federation/rescaled_increments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace fedpp::federation {

namespace {

/// Stream by stream, each with what its nodes say between its events.
void add_streams(const data::Realisation& held_out, const model::RealisationPrediction& p,
                 evaluation::RescaledIncrements& increments) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  std::size_t first = 0, node = 0;
  while (first < n || node < q) {
    const int stream = std::min(first < n ? held_out.event_history[first].stream : std::numeric_limits<int>::max(),
                                node < q ? held_out.node_history[node].stream : std::numeric_limits<int>::max());
    std::size_t last = first;
    while (last < n && held_out.event_history[last].stream == stream) ++last;
    std::vector<double> cells(last - first + 1, 0.0);
    const double begins =
        node < q && held_out.node_history[node].stream == stream ? held_out.nodes[node] : held_out.events[first];
    data::Interval span{begins, begins};
    if (first < last) span = {std::min(begins, held_out.events[first]), std::max(begins, held_out.events[last - 1])};
    std::size_t cell = 0;
    for (; node < q && held_out.node_history[node].stream == stream; ++node) {
      const double t = held_out.nodes[node];
      while (cell < last - first && t > held_out.events[first + cell]) ++cell;
      cells[cell] += held_out.node_weights[node] * p.expected_intensity[n + node];
      span = {std::min(span.start, t), std::max(span.end, t)};
    }
    increments.add({std::span(held_out.events).subspan(first, last - first),
                    std::span(held_out.multiplicities).subspan(first, last - first), cells, span});
    first = last;
  }
}

/// int e(t) lambda(t) dt up to each event and over all, for an encoder of time alone: lambda is the line through its
/// values at events and nodes, and the whole is the quadrature's.
std::vector<double> compensators(const data::Realisation& held_out, const model::RealisationPrediction& p) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  struct Value {
    double time, intensity;
  };
  std::vector<Value> known;
  double whole = 0;
  for (std::size_t i = 0; i < n; ++i) known.push_back({held_out.events[i], p.expected_intensity[i]});
  for (std::size_t j = 0; j < q; ++j) {
    known.push_back({held_out.nodes[j], p.expected_intensity[n + j]});
    whole += held_out.node_weights[j] * p.expected_intensity[n + j];
  }
  std::ranges::sort(known, {}, &Value::time);
  auto intensity = [&, next = std::size_t{0}](double t) mutable {  // of times that do not fall
    while (next < known.size() && known[next].time < t) ++next;
    if (next == 0) return known.front().intensity;
    if (next == known.size()) return known.back().intensity;
    const Value &left = known[next - 1], &right = known[next];
    return std::lerp(left.intensity, right.intensity, (t - left.time) / (right.time - left.time));
  };
  const auto& [edges, levels] = held_out.exposure;
  std::vector<double> breaks = edges;
  for (const Value& value : known) breaks.push_back(value.time);
  std::ranges::sort(breaks);
  std::vector<double> up_to_event;
  double sum = 0, before = 0, height = 0;
  std::size_t event = 0, piece = 0;
  for (std::size_t k = 0; k < breaks.size(); ++k) {
    const double t = breaks[k], now = known.empty() ? 0 : intensity(t);
    if (k > 0 && t > before) {
      while (piece < levels.size() && edges[piece + 1] <= before) ++piece;
      const double level = piece < levels.size() && edges[piece] <= before ? levels[piece] : 0;
      sum += level * (t - before) * 0.5 * (height + now);
    }
    before = t, height = now;
    for (; event < n && held_out.events[event] <= t; ++event) up_to_event.push_back(sum);
  }
  up_to_event.push_back(sum);
  for (double& value : up_to_event) value *= sum > 0 ? whole / sum : 0;
  return up_to_event;
}

}  // namespace

void add_increments(const data::Realisation& held_out, const model::RealisationPrediction& p,
                    evaluation::RescaledIncrements& increments) {
  if (!held_out.streams.empty()) return add_streams(held_out, p, increments);
  std::vector<double> cells = compensators(held_out, p);
  std::adjacent_difference(cells.begin(), cells.end(), cells.begin());
  increments.add({held_out.events, held_out.multiplicities, cells, held_out.span});
}

}  // namespace fedpp::federation
