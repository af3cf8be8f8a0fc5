// Local epochs of the clients that take part (spec 1.6): E-steps in closed form, Adam on the weights' posterior, all of
// them batched over (client x realisation x sample).
#pragma once

#include <vector>

#include "gpu/adam.hpp"
#include "gpu/kernels.hpp"
#include "model/client_batch.hpp"
#include "model/kept_block.hpp"
#include "model/local_report.hpp"
#include "model/model_mixture.hpp"
#include "model/priors.hpp"

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

/// Mini-batches of a client's epoch. \throws UserError where they are more than can be numbered
int mini_batches(const Client& client, const config::Training& training);

/// What a local update may be given besides.
struct LocalAids {
  KeptBlock* kept = nullptr;  ///< of the rounds before, with the same options but for those of the optimiser
  const ModelMixture* mixture = nullptr;  ///< participants learn one
};

/// Whether a rank keeps its block from round to round: where its participants fit into one, and nothing else takes
/// arrays of its own between the rounds.
bool can_keep(std::size_t blocks, const config::Training& training);

/// Runs E epochs of each participant against its prior, epoch keys (seed, round). The clients' states are advanced in
/// place; a client's result does not depend on which others are in the batch. Order of reports: as the clients.
std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const LocalAids& aids = {});

/// E-steps alone under the weights that the clients have (their priors before their first round): q(v), m and nu, for
/// the clients' training data. A client whose factorisation fails keeps its latent state.
void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed);

}  // namespace fedpp::model
