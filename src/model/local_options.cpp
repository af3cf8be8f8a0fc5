#include "model/local_options.hpp"

#include <fmt/format.h>

#include "config/error.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::model {

namespace {

/// The prior term that goes with a barycentre (2.1).
gpu::Divergence prior_term(config::Divergence barycentre) {
  if (barycentre == config::Divergence::kW2) return gpu::Divergence::kW2;
  if (barycentre == config::Divergence::kMmd) return gpu::Divergence::kMmd;
  return gpu::Divergence::kKl;
}

}  // namespace

LocalOptions local_options(const config::Config& config) {
  return {.jitter = config.model.jitter,
          .training = config.training,
          .divergence = prior_term(config.aggregation.divergence),
          .overwrite = config.federation.client_start == config::ClientStart::kOverwrite,
          .workspace_mb = config.backend.workspace_mb};
}

BatchOptions batch_options(const LocalOptions& options) {
  return {.samples = static_cast<int>(options.training.samples),
          .jitter = options.jitter,
          .with_gradient = true,
          .spread = options.training.batch_points < 1,
          .precision = precision_of(options.training.precision)};
}

int mini_batches(const Client& client, const config::Training& training) {
  const auto steps = gpu::steps_in_epoch(static_cast<int>(client.training.size()),
                                         static_cast<int>(training.batch_realisations), training.batch_points);
  if (steps > 4096)  // the random numbers' counters hold 12 bits of them
    throw UserError(
        fmt::format("training.batch_realisations = {}, training.batch_points = {}: {} mini-batches an epoch of client "
                    "{}, at most 4096 are possible; take larger ones",
                    training.batch_realisations, training.batch_points, steps, client.id));
  return static_cast<int>(steps);
}

}  // namespace fedpp::model
