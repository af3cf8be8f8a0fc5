#include "model/point_slices.hpp"

#include <algorithm>

#include "gpu/runtime.hpp"

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

}  // namespace

std::vector<std::vector<RealisationOf>> slices_of(const std::vector<ClientPoints>& points,
                                                  const PredictionOptions& options) {
  const double room = slice_bytes(options);
  std::vector<std::vector<RealisationOf>> slices(1);
  double used = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto extents = extents_of(points[k]);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const double bytes = point_bytes(*points[k].client, extents[i], options.samples);
      if (used + bytes > room && !slices.back().empty()) {
        slices.emplace_back();
        used = 0;
      }
      slices.back().push_back({k, i});
      used += bytes;
    }
  }
  return slices;
}

double sliced_bytes(const ClientPoints& points, const PredictionOptions& options) {
  double all = 0, largest = 0;
  for (const auto& extent : extents_of(points)) {
    const double bytes = point_bytes(*points.client, extent, options.samples);
    all += bytes;
    largest = std::max(largest, bytes);
  }
  return array_bytes({&points, 1}, options.samples, /*with_gradient=*/false) - all +
         std::min(all, std::max(largest, slice_bytes(options)));
}

}  // namespace fedpp::model
