#include "model/batch_memory.hpp"

#include <algorithm>

#include "gpu/alignment.hpp"
#include "gpu/runtime.hpp"
#include "model/alignment.hpp"

namespace fedpp::model {

using gpu::Index;

double array_bytes(std::span<const ClientPoints> clients, const BatchOptions& options) {
  Index kept = 0, chunk = 0, largest = 0;
  double cut_by = 0;
  for (const ClientPoints& points : clients) {
    const gpu::ClientExtent client{options.samples, points.client->embedding.encoder, options.precision};
    const auto extents = extents_of(points);
    const auto types = static_cast<Index>(options.with_gradient ? event_types(*points.realisations).size() : 0);
    Index streams = 0;
    for (const auto& e : extents) streams += static_cast<Index>(e.streams.size());
    kept += gpu::client_doubles(client, streams, options.with_gradient);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto& e = extents[i];
      kept += gpu::field_doubles(client, e, options.with_gradient);
      if (types > 0)
        kept += gpu::alignment_doubles(client, e, types, static_cast<Index>((*points.realisations)[i].marks.size()));
      if (!options.with_gradient) continue;
      if (!gpu::chunk_takes_more(cut_by)) cut_by = 0, chunk = 0;
      cut_by += gpu::chunk_bytes(options.samples, e.columns, e.inducing, client.encoder.dimension);
      chunk += gpu::chunk_doubles(client, e);
      largest = std::max(largest, chunk);
    }
  }
  return static_cast<double>(kept + largest) * sizeof(double);
}

std::vector<std::pair<int, int>> blocks_of(const std::vector<double>& bytes, double workspace_mb) {
  const double room = 1e6 * gpu::workspace_mb(workspace_mb);
  std::vector<std::pair<int, int>> blocks;
  double used = 0;
  for (int k = 0; k < static_cast<int>(bytes.size()); ++k) {
    if (blocks.empty() || used + bytes[k] > room) {
      blocks.emplace_back(k, k);
      used = 0;
    }
    used += bytes[k];
    blocks.back().second = k + 1;
  }
  return blocks;
}

std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, const BatchOptions& options,
                                           double workspace_mb) {
  std::vector<double> bytes;
  for (const auto& client : clients) bytes.push_back(array_bytes({&client, 1}, options));
  return blocks_of(bytes, workspace_mb);
}

}  // namespace fedpp::model
