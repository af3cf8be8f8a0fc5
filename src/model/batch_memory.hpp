// What batches of clients take of memory, and the blocks that clients are cut into by it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/batch_options.hpp"
#include "model/client_points.hpp"

namespace fedpp::model {

/// Bytes of the arrays of a batch of these clients, an upper bound.
double array_bytes(std::span<const ClientPoints> clients, const BatchOptions& options);

/// Consecutive blocks [begin, end) of clients, of so many bytes each, that stay below the budget
/// (gpu::workspace_mb); a single client is always a block.
std::vector<std::pair<int, int>> blocks_of(const std::vector<double>& bytes, double workspace_mb);

/// Consecutive blocks [begin, end) of clients whose arrays stay below the budget (gpu::workspace_mb); a single
/// client is always a block.
std::vector<std::pair<int, int>> blocks_of(const std::vector<ClientPoints>& clients, const BatchOptions& options,
                                           double workspace_mb);

}  // namespace fedpp::model
