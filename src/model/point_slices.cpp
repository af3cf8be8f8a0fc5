#include "model/point_slices.hpp"

#include <algorithm>
#include <type_traits>

#include "gpu/runtime.hpp"
#include "model/batch_memory.hpp"

namespace fedpp::model {

namespace {

/// Bytes that a realisation's points take.
double point_bytes(const Client& client, const gpu::RealisationExtent& extent, int samples) {
  const gpu::ClientExtent sizes{samples, client.embedding.encoder};
  gpu::RealisationExtent none = extent;
  none.columns = 0;
  return static_cast<double>(sizeof(double)) *
         static_cast<double>(gpu::field_doubles(sizes, extent, false) - gpu::field_doubles(sizes, none, false));
}

/// Bytes of a slice. A host's work space is a cache's, too little for a slice, each of which makes the arrays of all
/// histories anew.
double slice_bytes(const PredictionOptions& options) {
  return (gpu::on_host() ? 8e6 : 0.5e6) * gpu::workspace_mb(options.workspace_mb);
}

/// A constant: were parts as large as the work space, bits would depend on the ranks that share a node.
double part_bytes(const PredictionOptions& options) {
  if (options.part_bytes > 0) return options.part_bytes;
  return gpu::on_host() ? 64e6 : 1e9;
}

/// How many of a realisation's columns are read at a time.
std::size_t columns_at_a_time(const Client& client, const gpu::RealisationExtent& extent,
                              const PredictionOptions& options) {
  const auto columns = static_cast<double>(extent.columns);
  const double bytes = point_bytes(client, extent, options.samples);
  double most = bytes > 0 ? columns * part_bytes(options) / bytes : columns;
  for (const int tokens : extent.streams) most = std::max(most, static_cast<double>(tokens));
  const auto tile = static_cast<std::size_t>(gpu::tile_columns());
  return tile * (static_cast<std::size_t>(std::min(most, columns)) / tile + 1);
}

}  // namespace

std::vector<std::vector<PointsOf>> slices_of(const std::vector<ClientPoints>& points,
                                             const PredictionOptions& options) {
  const double room = slice_bytes(options);
  std::vector<std::vector<PointsOf>> slices(1);
  double used = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto extents = extents_of(points[k]);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto columns = static_cast<std::size_t>(extents[i].columns);
      const std::size_t step = columns_at_a_time(*points[k].client, extents[i], options);
      const double bytes = point_bytes(*points[k].client, extents[i], options.samples);
      std::size_t first = 0;
      do {
        const std::size_t last = std::min(columns, first + step);
        const double part = columns > 0 ? bytes * static_cast<double>(last - first) / static_cast<double>(columns) : 0;
        if (first > 0 || (used + part > room && !slices.back().empty())) {
          slices.emplace_back();
          used = 0;
        }
        slices.back().push_back({k, i, first, last});
        used += part;
        first = last;
      } while (first < columns);
    }
  }
  return slices;
}

data::Realisation part_of(const data::Realisation& r, const PointsOf& points) {
  const std::size_t n = r.events.size();
  const auto part = [](const auto& all, std::size_t first, std::size_t last) {
    return std::remove_cvref_t<decltype(all)>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                              all.begin() + static_cast<std::ptrdiff_t>(last));
  };
  const std::size_t first_event = std::min(points.first, n), last_event = std::min(points.last, n);
  const std::size_t first_node = std::max(points.first, n) - n, last_node = std::max(points.last, n) - n;
  data::Realisation result;
  result.events = part(r.events, first_event, last_event);
  result.multiplicities = part(r.multiplicities, first_event, last_event);
  result.nodes = part(r.nodes, first_node, last_node);
  result.node_weights = part(r.node_weights, first_node, last_node);
  result.span = r.span;
  result.streams = r.streams;
  if (!r.streams.empty()) {
    result.event_history = part(r.event_history, first_event, last_event);
    result.node_history = part(r.node_history, first_node, last_node);
  }
  return result;
}

double sliced_bytes(const ClientPoints& points, const PredictionOptions& options) {
  double all = 0, largest = 0;
  for (const auto& extent : extents_of(points)) {
    const double bytes = point_bytes(*points.client, extent, options.samples);
    const auto columns = static_cast<double>(std::max(extent.columns, 1));
    const auto at_a_time = static_cast<double>(columns_at_a_time(*points.client, extent, options));
    all += bytes;
    largest = std::max(largest, bytes * std::min(1.0, at_a_time / columns));  // of a part
  }
  return array_bytes({&points, 1}, {.samples = options.samples}) - all +
         std::min(all, std::max(largest, slice_bytes(options)));
}

}  // namespace fedpp::model
