#include "model/local_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/error.hpp"
#include "model/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/draw_keys.hpp"
#include "model/e_steps.hpp"
#include "model/local_epoch.hpp"
#include "model/mixing.hpp"
#include "model/model_mixture.hpp"
#include "model/optimiser_states.hpp"
#include "model/projection.hpp"

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

namespace {

/// Starts a participant's posterior at the prior: at its first participation, or in every round ("overwrite"). Returns
/// the start before, where that has changed it.
std::optional<StartPutAside> begin(Client& client, const WeightPosterior& prior, const LocalOptions& options) {
  if (client.state.started && !options.overwrite) return std::nullopt;
  StartPutAside before(client);
  restart_from(client, prior, options.training.sd_map);
  return before;
}

}  // namespace

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

bool can_keep(std::size_t blocks, const config::Training& training) { return blocks <= 1 && training.alignment == 0; }

std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const LocalAids& aids) {
  const gpu::Region region("fedpp::local_update");
  const gpu::Exec exec;
  std::vector<LocalReport> reports(participants.size());
  std::vector<ClientPoints> points;
  for (Client* c : participants) points.push_back({c, &c->training});

  gpu::AdamOptions adam_options{options.training.beta1,
                                options.training.beta2,
                                options.training.epsilon,
                                options.schedule,
                                options.training.prior_weight,
                                options.bandwidth,
                                priors.proximal,
                                options.divergence,
                                sd_map_of(options.training.sd_map)};

  const BatchOptions batch_options{.samples = static_cast<int>(options.training.samples),
                                   .jitter = options.jitter,
                                   .with_gradient = true,
                                   .spread = options.training.batch_points < 1,
                                   .precision = precision_of(options.training.precision)};
  const auto blocks = blocks_of(points, batch_options, options.workspace_mb);
  const bool aligned = options.training.alignment > 0;
  KeptBlock of_this_round;
  KeptBlock* kept = aids.kept;
  if (kept == nullptr || !can_keep(blocks.size(), options.training)) {
    if (kept != nullptr) kept->drop();
    kept = &of_this_round;
  }
  for (const auto& [first, last] : blocks) {
    std::vector<Client*> clients(participants.begin() + first, participants.begin() + last);
    std::vector<std::optional<StartPutAside>> before;
    std::vector<WeightPosterior> weights;
    int steps = 1;
    for (Client* c : clients) {
      before.push_back(begin(*c, priors.of(c->id), options));
      weights.push_back(c->state.weights);
      steps = std::max(steps, mini_batches(*c, options.training));
    }
    const std::vector<ClientPoints> training(points.begin() + first, points.begin() + last);
    std::vector<double> strengths;
    if (aligned) {
      kept->drop();  // these take arrays of their own for a while
      strengths = alignment_strengths(training, priors, options.jitter, options.training, seed);
    }
    const ClientBatch& block = kept->of(training, weights, batch_options);
    std::optional<gpu::Alignment> alignment;
    if (aligned) alignment = make_alignment(block, training, priors, strengths);
    const gpu::AdamState& adam = kept->adam();
    upload_optimiser(clients, priors, options.training, adam);
    std::optional<DeviceMixture> mixed;
    if (aids.mixture) mixed.emplace(exec, block, clients, *aids.mixture);
    const EpochParts parts{
        block,
        adam,
        adam_options,
        {steps, static_cast<int>(options.training.batch_realisations), options.training.batch_points},
        aligned ? &*alignment : nullptr,
        mixed ? &mixed->device() : nullptr};
    for (std::int64_t epoch = 0; epoch < options.training.epochs; ++epoch)
      local_epoch(exec, parts, {seed, static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(epoch), 0});
    exec.fence();

    const UpdatedStates updated(block, adam, aligned ? &*alignment : nullptr);
    for (int k = 0; k < last - first; ++k) {
      LocalReport& report = reports[first + k];
      report = updated.report(k, *clients[k]);
      if (!report.failure) {
        updated.take(k, *clients[k]);
        if (mixed) mixed->read(k, clients[k]->state);
      } else if (before[k]) {
        std::move(*before[k]).put_back(*clients[k]);
      }
    }
  }
  return reports;
}

void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed) {
  const gpu::Region region("fedpp::fit_latent");
  const gpu::Exec exec;
  const BatchOptions batch_options{.samples = static_cast<int>(options.training.samples), .jitter = options.jitter};
  std::vector<ClientPoints> points;
  for (Client* c : clients) points.push_back({c, &c->training});
  for (const auto& [first, last] : blocks_of(points, batch_options, options.workspace_mb)) {
    std::vector<WeightPosterior> weights;
    for (int k = first; k < last; ++k) weights.push_back(weights_of(*clients[k], priors));
    const ClientBatch block({points.begin() + first, points.begin() + last}, weights, batch_options);
    const auto& b = block.batch();
    const auto& f = block.fields();
    gpu::draw_weights(exec, b, f, {seed, kFitRound, 0, 0});
    embed_and_project(exec, b, f, block.encoder());
    model::e_steps(exec, b, f, e_steps);
    exec.fence();
    std::vector<int> info;
    gpu::to_host(f.info, info);
    const LatentPosteriors latent = block.read_latent();
    for (int k = 0; k < last - first; ++k)
      if (!block.failed_factor(k, info)) block.take_latent(latent, k, clients[first + k]->state);
  }
}

}  // namespace fedpp::model
