// One local epoch of a block of clients (theory 1.6).
#pragma once

#include "gpu/adam.hpp"
#include "gpu/alignment.hpp"
#include "gpu/kernels.hpp"
#include "gpu/mixture.hpp"
#include "model/client_batch.hpp"

namespace fedpp::model {

/// The stochastic steps of an epoch: above one, each is on a mini-batch of its own.
struct MiniBatches {
  int steps = 1;
  int realisations = 0;  ///< in each; 0: all
  double points = 1;     ///< share of a realisation's events and nodes in each, in (0, 1]
};

/// What the epochs of a local update work on.
struct EpochParts {
  const ClientBatch& block;  ///< with its fields set
  const gpu::AdamState& adam;
  gpu::AdamOptions adam_options;
  MiniBatches mini_batches;
  const gpu::Alignment* alignment = nullptr;  ///< of the embeddings with those of the received model, if any
  const gpu::Mixture* mixture = nullptr;      ///< where the weights are one of several models: its step is Adam's then
};

/// The steps of 1.6 in their order, those that know no other realisations chunk by chunk. Launches only: nothing is
/// allocated, copied or waited for.
void local_epoch(const gpu::Exec& exec, const EpochParts& parts, gpu::DrawKey key);

}  // namespace fedpp::model
