#include "model/local_update.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "gpu/region.hpp"
#include "model/alignment.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/device_mixture.hpp"
#include "model/kept_block.hpp"
#include "model/local_epoch.hpp"
#include "model/mixing.hpp"
#include "model/optimiser_states.hpp"

namespace fedpp::model {

namespace {

/// As many steps an epoch as the client with the most of them takes.
MiniBatches mini_batches_of(const std::vector<Client*>& clients, const config::Training& training) {
  int steps = 1;
  for (const Client* client : clients) steps = std::max(steps, mini_batches(*client, training));
  return {steps, static_cast<int>(training.batch_realisations), training.batch_points};
}

/// Starts posteriors at the priors: at a client's first participation, or in every round ("overwrite"). Returns the
/// states before, of those that this has changed.
std::vector<std::optional<WeightState>> start(const std::vector<Client*>& clients, const Priors& priors,
                                              const LocalOptions& options) {
  std::vector<std::optional<WeightState>> before(clients.size());
  for (std::size_t k = 0; k < clients.size(); ++k) {
    if (clients[k]->state.started && !options.overwrite) continue;
    before[k] = clients[k]->state;
    restart_from(*clients[k], priors.of(clients[k]->id), options.training.sd_map);
  }
  return before;
}

gpu::AdamOptions adam_options(const LocalOptions& options, const Priors& priors) {
  return {.beta1 = options.training.beta1,
          .beta2 = options.training.beta2,
          .epsilon = options.training.epsilon,
          .schedule = options.schedule,
          .prior_weight = options.training.prior_weight,
          .bandwidth = options.bandwidth,
          .proximal = priors.proximal,
          .divergence = options.divergence,
          .sd_map = sd_map_of(options.training.sd_map)};
}

/// Brings what the epochs came to into the clients' states; those that failed are as they were before their start.
std::vector<LocalReport> take_results(const std::vector<Client*>& clients, const UpdatedStates& updated,
                                      const std::optional<DeviceMixture>& mixture,
                                      std::vector<std::optional<WeightState>> before) {
  std::vector<LocalReport> reports;
  for (int k = 0; k < static_cast<int>(clients.size()); ++k) {
    Client& client = *clients[k];
    const auto& report = reports.emplace_back(updated.report(k, client));
    if (!report.failure) {
      updated.take(k, client);
      if (mixture) mixture->read(k, client.state);
    } else if (before[k]) {
      client.state.weight_state() = std::move(*before[k]);
    }
  }
  return reports;
}

/// The clients of one block advance together. `kept`: where their batch is laid out.
std::vector<LocalReport> update_block(const std::vector<Client*>& clients, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      KeptBlock& kept, const ModelMixture* learned) {
  const MiniBatches mini_batches = mini_batches_of(clients, options.training);
  auto before = start(clients, priors, options);
  const auto points = training_points(clients);

  const bool aligned = options.training.alignment > 0;
  std::vector<double> strengths;
  if (aligned) strengths = alignment_strengths(points, priors, options.jitter, options.training, seed);
  const ClientBatch& block = kept.of(points, own_weights(points), batch_options(options));
  std::optional<gpu::Alignment> alignment;
  if (aligned) alignment = make_alignment(block, points, priors, strengths);
  const gpu::Alignment* const alignment_term = alignment ? &*alignment : nullptr;
  upload_optimiser(clients, priors, options.training, kept.adam());
  const gpu::Exec exec;
  std::optional<DeviceMixture> mixture;
  if (learned) mixture.emplace(exec, block, clients, *learned);

  const EpochParts parts{block,        kept.adam(),    adam_options(options, priors),
                         mini_batches, alignment_term, mixture ? &mixture->device() : nullptr};
  for (std::int64_t epoch = 0; epoch < options.training.epochs; ++epoch)
    local_epoch(exec, parts, {seed, static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(epoch), 0});
  exec.fence();
  return take_results(clients, UpdatedStates(block, kept.adam(), alignment_term), mixture, std::move(before));
}

}  // namespace

bool can_keep(std::size_t blocks, const config::Training& training) { return blocks <= 1 && training.alignment == 0; }

std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const LocalAids& aids) {
  const gpu::Region region("fedpp::local_update");
  const auto blocks = blocks_of(training_points(participants), batch_options(options), options.workspace_mb);
  const bool keeps = aids.kept != nullptr && can_keep(blocks.size(), options.training);
  if (aids.kept != nullptr && !keeps) aids.kept->drop();  // the blocks need the room
  std::vector<LocalReport> reports;
  for (const auto& [first, last] : blocks) {
    KeptBlock not_kept;
    auto of_block = update_block({participants.begin() + first, participants.begin() + last}, priors, options, seed,
                                 round, keeps ? *aids.kept : not_kept, aids.mixture);
    std::move(of_block.begin(), of_block.end(), std::back_inserter(reports));
  }
  return reports;
}

}  // namespace fedpp::model
