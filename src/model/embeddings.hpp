// The embeddings of given points under given weights: no posterior, no kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "model/client.hpp"

namespace fedpp::model {

/// h [D x nodes], column-major, at the nodes of `points` (with their streams, where the encoder reads a history) under
/// each of the weight vectors [P]. One batch, in blocks whose work space stays below `workspace_mb`.
std::vector<std::vector<double>> embeddings_at(const Embedding& embedding,
                                               const std::vector<const std::vector<double>*>& weights,
                                               const data::Realisation& points, double workspace_mb);

/// What embeddings_at takes of a device: bytes of the arrays of its largest block, and of its teams' scratch.
struct EmbeddingsRoom {
  double arrays = 0, scratch = 0;
};
EmbeddingsRoom embeddings_room(const Embedding& embedding, std::size_t count, const data::Realisation& points,
                               double workspace_mb);

}  // namespace fedpp::model
