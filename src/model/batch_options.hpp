// How a batch of clients is made.
#pragma once

#include "config/words.hpp"
#include "gpu/extents.hpp"

namespace fedpp::model {

struct BatchOptions {
  int samples = 1;             ///< of the weights
  double jitter = 0;           ///< that a factorisation of K(z,z) begins with, relative
  bool with_gradient = false;  ///< with the arrays of the adjoint
  bool spread = false;  ///< columns are dealt to the tiles like cards, so that a tile is an even subset (mini-batches)
  gpu::Precision precision = gpu::Precision::kDouble;

  bool operator==(const BatchOptions&) const = default;
};

/// Of training.precision.
inline gpu::Precision precision_of(config::Precision precision) {
  return precision == config::Precision::kMixed ? gpu::Precision::kMixed : gpu::Precision::kDouble;
}

}  // namespace fedpp::model
