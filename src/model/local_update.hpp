// Local epochs of the clients that take part (spec 1.6): E-steps in closed form, Adam on the weights' posterior, all of
// them batched over (client x realisation x sample).
#pragma once

#include <vector>

#include "gpu/adam.hpp"
#include "gpu/kernels.hpp"
#include "gpu/mixture.hpp"
#include "model/client_batch.hpp"
#include "model/kept_block.hpp"
#include "model/local_report.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

struct LocalOptions {
  config::Model model;
  config::Training training;
  gpu::Divergence divergence = gpu::Divergence::kKl;
  double bandwidth = 1;     ///< d of mmd
  double schedule = 1;      ///< this round's factor on the learning rates
  bool overwrite = false;   ///< client_start = "overwrite"
  double workspace_mb = 0;  ///< clients are advanced in blocks below this: gpu::workspace_mb
};

/// Those of the configuration; bandwidth and schedule are a round's, which sets them.
LocalOptions local_options(const config::Config& config);

/// Models that a client mixes (gpu/mixture.hpp): in a local update each participant learns the shares state.mixing [C]
/// and its own model state.core through the mixture, which is its posterior then. Adam's state is the own model's.
struct ModelMixture {
  const std::vector<WeightPosterior>& models;  ///< [C], by client; a participant's own is not read
  const std::vector<double>& anchor;           ///< [C] what the shares are drawn to
  double rate = 0;                             ///< step on the shares, of the objective per training event
  double penalty = 0;                          ///< weight of |p - anchor|^2 / 2
};

/// Mini-batches of a client's epoch. \throws UserError where they are more than can be numbered
int mini_batches(const Client& client, const config::Training& training);

/// Runs E epochs of each participant against its prior, epoch keys (seed, round). The clients' states are advanced in
/// place; a client's result does not depend on which others are in the batch. Order of reports: as the clients. `kept`:
/// of the rounds before, with the same options but for those of the optimiser.
std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const ModelMixture* mixture = nullptr, KeptBlock* kept = nullptr);

/// E-steps alone under the weights that the clients have (their priors before their first round): q(v), m and nu, for
/// the clients' training data. A client whose factorisation fails keeps its latent state.
void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed);

/// One local epoch on a block whose fields are set: the order of the steps of 1.6, those that know no other
/// realisations chunk by chunk. Exposed for tests and benchmarks.
void local_epoch(const gpu::Exec& exec, const ClientBatch& block, const gpu::AdamState& adam,
                 const gpu::AdamOptions& adam_options, const LocalOptions& options, gpu::DrawKey key, int steps,
                 const gpu::Alignment* alignment = nullptr, const gpu::Mixture* mixture = nullptr);

/// E-steps alone, the weights held: 1.3, then `count` times q(v), 1.3, m, 1.3, nu, 1.3. Features and their moments must
/// be current. `offset_precision`: of a prior N(0, .) on nu.
void e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
             double offset_precision = 0);

/// The same but for rounding, on averages over the samples of the weights, where gpu::averages_pay(); the moments are
/// then those of the averages (gpu/averages.hpp). Takes memory and waits for the device.
void averaged_e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
                      double offset_precision = 0);

}  // namespace fedpp::model
