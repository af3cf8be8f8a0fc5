// Sizes of what goes into a batch (gpu/batch.hpp): all that its layout, its cost and its memory follow from.
#pragma once

#include <vector>

#include "gpu/encoder.hpp"

namespace fedpp::gpu {

/// Of the arrays with a column for every point and a row for every inducing point (gpu/precision.hpp).
enum class Precision { kDouble, kMixed };

/// Sizes of one client's part of a batch.
struct ClientExtent {
  int samples = 1;                           ///< S
  Encoder encoder;                           ///< fixes D and P
  Precision precision = Precision::kDouble;  ///< the same for all clients of a batch
};

/// Sizes and points of one realisation.
struct RealisationExtent {
  int client = 0;            ///< index into the clients of the batch; realisations are ordered by it
  int inducing = 0;          ///< M >= 1
  int columns = 0;           ///< N + Q: distinct event times and quadrature nodes, in any order
  std::vector<int> streams;  ///< tokens of each stream of its history; empty where the encoder reads none
  /// Its inducing inputs are those of the realisation before it, of the same client: lists over the same window, which
  /// make a set. They have no history.
  bool shares_inducing = false;
};

}  // namespace fedpp::gpu
