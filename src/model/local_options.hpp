// What a local update is told besides its clients and priors, and what follows from it: the options of its batches, the
// mini-batches of an epoch.
#pragma once

#include "config/options.hpp"
#include "gpu/adam_options.hpp"
#include "model/batch_options.hpp"
#include "model/client.hpp"

namespace fedpp::model {

struct LocalOptions {
  double jitter = config::Model{}.jitter;
  config::Training training;
  gpu::Divergence divergence = gpu::Divergence::kKl;
  double bandwidth = 1;     ///< d of mmd
  double schedule = 1;      ///< this round's factor on the learning rates
  bool overwrite = false;   ///< client_start = "overwrite"
  double workspace_mb = 0;  ///< clients are advanced in blocks below this: gpu::workspace_mb
};

/// Those of the configuration; bandwidth and schedule are a round's, which sets them.
LocalOptions local_options(const config::Config& config);

/// Of the blocks of a local update.
BatchOptions batch_options(const LocalOptions& options);

/// Mini-batches of a client's epoch. \throws UserError where they are more than can be numbered
int mini_batches(const Client& client, const config::Training& training);

}  // namespace fedpp::model
