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

/// Bytes of the arrays of the largest block of embeddings_at under `count` weight vectors.
double embeddings_bytes(const Embedding& embedding, std::size_t count, const data::Realisation& points,
                        double workspace_mb);

}  // namespace fedpp::model
