#include "federation/rescaled_increments.hpp"

#include <algorithm>
#include <span>

#include "evaluation/calibration.hpp"

namespace fedpp::federation {

namespace {

/// Compensator between consecutive test events of each stream: with a history the quadrature breaks at events.
std::vector<double> increments_by_stream(const data::Realisation& held_out, const model::RealisationPrediction& p,
                                         data::Random& random) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  std::vector<double> all;
  std::size_t node = 0;
  for (std::size_t first = 0, last; first < n; first = last) {
    const int stream = held_out.event_history[first].stream;
    last = first;
    while (last < n && held_out.event_history[last].stream == stream) ++last;
    while (node < q && held_out.node_history[node].stream < stream) ++node;
    std::vector<double> cells(last - first + 1, 0.0);
    data::Interval span{held_out.events[first], held_out.events[last - 1]};
    std::size_t cell = 0;
    for (; node < q && held_out.node_history[node].stream == stream; ++node) {
      const double t = held_out.nodes[node];
      while (cell < last - first && t > held_out.events[first + cell]) ++cell;
      cells[cell] += held_out.node_weights[node] * p.expected_intensity[n + node];
      span = {std::min(span.start, t), std::max(span.end, t)};
    }
    const auto part =
        evaluation::rescaled_increments({std::span(held_out.events).subspan(first, last - first),
                                         std::span(held_out.multiplicities).subspan(first, last - first), cells, span},
                                        random);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::vector<double> increments_of(const data::Realisation& held_out, const model::RealisationPrediction& p,
                                  data::Random& random) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  if (!held_out.streams.empty()) return increments_by_stream(held_out, p, random);
  std::vector<double> at{held_out.span.start}, cumulative{0.0};
  double total = 0;
  for (std::size_t j = 0; j < q; ++j) {
    const double mass = held_out.node_weights[j] * p.expected_intensity[n + j];
    at.push_back(held_out.nodes[j]);
    cumulative.push_back(total + 0.5 * mass);
    total += mass;
  }
  at.push_back(held_out.span.end);
  cumulative.push_back(total);
  const auto compensator = [&](double t) {
    const auto upper = std::upper_bound(at.begin(), at.end(), t);
    const std::size_t k = std::clamp<std::size_t>(static_cast<std::size_t>(upper - at.begin()), 1, at.size() - 1);
    const double width = at[k] - at[k - 1];
    return cumulative[k - 1] + (width > 0 ? (t - at[k - 1]) / width : 0.0) * (cumulative[k] - cumulative[k - 1]);
  };
  std::vector<double> cells;
  double before = 0;
  for (const double t : held_out.events) {
    const double now = compensator(t);
    cells.push_back(std::max(now - before, 0.0));
    before = now;
  }
  cells.push_back(std::max(total - before, 0.0));
  return evaluation::rescaled_increments({held_out.events, held_out.multiplicities, cells, held_out.span}, random);
}

}  // namespace fedpp::federation
