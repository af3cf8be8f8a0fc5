#include "model/embeddings.hpp"

#include <algorithm>
#include <span>

#include "gpu/kernels.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/device_room.hpp"

namespace fedpp::model {

std::vector<std::vector<double>> embeddings_at(const Embedding& embedding,
                                               const std::vector<const std::vector<double>*>& weights,
                                               const data::Realisation& points, double workspace_mb) {
  const gpu::Region region("fedpp::embeddings_at");
  const Client client = make_client(0, embedding, {points}, 1, 1.0);
  const std::vector<ClientPoints> alike(weights.size(), {&client, &client.training});
  const std::size_t size = points.nodes.size() * static_cast<std::size_t>(embedding.encoder.dimension);
  const gpu::Exec exec;
  std::vector<std::vector<double>> result;
  for (const auto& [first, last] : blocks_of(alike, BatchOptions{}, workspace_mb)) {
    std::vector<WeightPosterior> fixed;
    for (int k = first; k < last; ++k) fixed.push_back({*weights[k], std::vector<double>(weights[k]->size(), 0.0)});
    const ClientBatch batch({alike.begin() + first, alike.begin() + last}, fixed, BatchOptions{});
    Kokkos::deep_copy(exec, batch.fields().weights, batch.fields().mean);
    gpu::embed(exec, batch.batch(), batch.fields(), batch.encoder());
    exec.fence();
    std::vector<double> h;  // [clients][D x nodes]
    gpu::to_host(batch.fields().embedding, h);
    for (int k = first; k < last; ++k) {
      const auto from = h.begin() + static_cast<std::ptrdiff_t>(size) * (k - first);
      result.emplace_back(from, from + static_cast<std::ptrdiff_t>(size));
    }
  }
  return result;
}

EmbeddingsRoom embeddings_room(const Embedding& embedding, std::size_t count, const data::Realisation& points,
                               double workspace_mb) {
  const Client client = make_client(0, embedding, {points}, 1, 1.0);
  const std::vector<ClientPoints> alike(count, {&client, &client.training});
  EmbeddingsRoom most;
  for (const auto& [first, last] : blocks_of(alike, BatchOptions{}, workspace_mb)) {
    most.arrays = std::max(most.arrays, array_bytes(std::span(alike).subspan(first, last - first), BatchOptions{}));
    gpu::ScratchWanted scratch;
    for (int k = first; k < last; ++k) scratch += scratch_of(alike[k], BatchOptions{});
    most.scratch = std::max(most.scratch, static_cast<double>(scratch.teams));
  }
  return most;
}

}  // namespace fedpp::model
