#include "model/local_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config/error.hpp"
#include "gpu/averages.hpp"
#include "model/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/draw_keys.hpp"
#include "model/mixing.hpp"
#include "model/model_mixture.hpp"
#include "model/projection.hpp"
#include "model/updated_states.hpp"

namespace fedpp::model {

namespace {

/// The ELBO and the divergence from the prior in it, 1.5.
void bound(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, const gpu::AdamState& adam,
           const gpu::AdamOptions& adam_options) {
  const gpu::Region region("fedpp::bound");
  gpu::elbo(exec, batch, fields);
  gpu::prior_divergence(exec, batch, fields, adam, adam_options);
}

/// The prior term that goes with a barycentre (2.1).
gpu::Divergence prior_term(config::Divergence barycentre) {
  if (barycentre == config::Divergence::kW2) return gpu::Divergence::kW2;
  if (barycentre == config::Divergence::kMmd) return gpu::Divergence::kMmd;
  return gpu::Divergence::kKl;
}

const gpu::Batch& batch_of(const gpu::Batch& batch) { return batch; }
const gpu::Batch& batch_of(const gpu::Averages& averages) { return averages.batch; }

/// Of an E-step what belongs to the realisations: q(v), 1.3. Moments and augmentation must be current. Source: a batch,
/// with V for every sample of the weights, or averages.
template <class Source>
void update_latent(const gpu::Exec& exec, const Source& source, const gpu::Fields& fields) {
  const gpu::Region region("fedpp::update_latent");
  gpu::update_variational(exec, source, fields);
  gpu::moments(exec, source, fields);
  gpu::augment(exec, batch_of(source), fields);
}

/// And to the clients: m, 1.3, nu, 1.3.
void update_intensity(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields,
                      double offset_precision, bool with_bound) {
  const gpu::Region region("fedpp::update_intensity");
  gpu::update_rate(exec, batch, fields);
  gpu::augment(exec, batch, fields);
  gpu::update_offset(exec, batch, fields, offset_precision, /*only_with_events=*/offset_precision == 0);
  gpu::augment(exec, batch, fields, with_bound);
}

template <class Source>
void e_steps_on(const gpu::Exec& exec, const Source& source, const gpu::Fields& fields, int count,
                double offset_precision) {
  const gpu::Batch& batch = batch_of(source);
  gpu::augment(exec, batch, fields);
  for (int step = 0; step < count; ++step) {  // each leaves moments and augmentation as the next one wants them
    update_latent(exec, source, fields);
    update_intensity(exec, batch, fields, offset_precision, /*with_bound=*/step + 1 == count);
  }
}

}  // namespace

LocalOptions local_options(const config::Config& config) {
  return {.model = config.model,
          .training = config.training,
          .divergence = prior_term(config.aggregation.divergence),
          .overwrite = config.federation.client_start == config::ClientStart::kOverwrite,
          .workspace_mb = config.backend.workspace_mb};
}

void e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
             double offset_precision) {
  if (count > 0) e_steps_on(exec, batch, fields, count, offset_precision);
}

void averaged_e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
                      double offset_precision) {
  if (count == 0) return;
  const auto averages = [&] {
    const gpu::Region region("fedpp::average");
    return gpu::average(exec, batch, fields);
  }();
  gpu::moments(exec, averages, fields);
  e_steps_on(exec, averages, fields, count, offset_precision);
  exec.fence();  // averages end
}

void local_epoch(const gpu::Exec& exec, const ClientBatch& block, const gpu::AdamState& adam,
                 const gpu::AdamOptions& adam_options, const LocalOptions& options, gpu::DrawKey key, int steps,
                 const gpu::Alignment* alignment, const gpu::Mixture* mixture) {
  const gpu::Region region("fedpp::local_epoch");
  const int realisations = static_cast<int>(options.training.batch_realisations);
  const double points = options.training.batch_points;
  const auto& batch = block.batch();
  const auto& fields = block.fields();
  auto& encoder = block.encoder();
  const auto draw_and_project = [&](bool batch_only, const auto& then) {
    if (alignment) gpu::embed_received(exec, batch, fields, encoder, *alignment, key, batch_only);
    gpu::draw_weights(exec, batch, fields, key);
    if (!batch.by_chunks) gpu::embed(exec, batch, fields, encoder, batch_only);
    for (const gpu::Batch& chunk : block.chunks()) {
      if (batch.by_chunks) gpu::embed(exec, chunk, fields, encoder, batch_only);
      project(exec, chunk, fields, batch_only);
      then(chunk);
    }
  };
  // E-step: over all data.
  draw_and_project(/*batch_only=*/false, [&](const gpu::Batch& chunk) {
    gpu::augment(exec, chunk, fields);
    update_latent(exec, chunk, fields);
  });
  update_intensity(exec, batch, fields, /*offset_precision=*/0, /*with_bound=*/true);
  bound(exec, batch, fields, adam, adam_options);
  // Stochastic steps: one, or one per mini-batch, with fresh samples after the first.
  for (int step = 0; step < steps; ++step) {
    key.step = static_cast<std::uint32_t>(step);
    if (steps > 1) gpu::select_batch(exec, batch, fields, key, realisations, points);
    if (step > 0) draw_and_project(/*batch_only=*/true, [](const gpu::Batch&) {});
    gpu::adjoint(exec, batch, block.chunks(), fields, encoder, alignment);
    const gpu::Region step_region("fedpp::step");
    if (mixture)
      gpu::mixture_step(exec, batch, fields, adam, adam_options, *mixture);
    else
      gpu::adam_step(exec, batch, fields, adam, adam_options);
  }
}

namespace {

/// The clients' Adam state, and the priors that they are drawn to, onto the device.
void upload(const std::vector<Client*>& clients, const Priors& priors, const config::Training& training,
            const gpu::AdamState& device) {
  std::vector<double> prior_mean, prior_sd, centre, rate, raw, m1, m2, r1, r2;
  std::vector<std::int64_t> steps;
  const auto append = [](std::vector<double>& all, const std::vector<double>& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const Client* c : clients) {
    const int p = c->embedding.encoder.parameters();
    append(prior_mean, priors.of(c->id).mean);
    append(prior_sd, priors.of(c->id).sd);
    if (priors.proximal > 0) append(centre, priors.centres.at(c->id));
    append(rate, std::vector<double>(p - 2, training.learning_rate));
    append(rate, std::vector<double>(
                     2, training.learning_rate_kernel > 0 ? training.learning_rate_kernel : training.learning_rate));
    append(raw, c->state.raw);
    append(m1, c->state.first_mean);
    append(m2, c->state.second_mean);
    append(r1, c->state.first_raw);
    append(r2, c->state.second_raw);
    steps.push_back(c->state.steps);
  }
  gpu::copy_to(device.prior_mean, prior_mean);
  gpu::copy_to(device.prior_sd, prior_sd);
  if (priors.proximal > 0) gpu::copy_to(device.centre, centre);
  gpu::copy_to(device.learning_rate, rate);
  gpu::copy_to(device.raw, raw);
  gpu::copy_to(device.first_mean, m1);
  gpu::copy_to(device.second_mean, m2);
  gpu::copy_to(device.first_raw, r1);
  gpu::copy_to(device.second_raw, r2);
  gpu::copy_to(device.steps, steps);
}

/// Starts a participant's posterior at the prior: at its first participation, or in every round ("overwrite"). Returns
/// the state before, where that has changed it.
std::optional<ClientState> begin(Client& client, const WeightPosterior& prior, const LocalOptions& options) {
  if (client.state.started && !options.overwrite) return std::nullopt;
  auto before = client.state;
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

std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const ModelMixture* mixture, KeptBlock* kept) {
  const gpu::Region region("fedpp::local_update");
  const gpu::Exec exec;
  const int samples = static_cast<int>(options.training.samples);
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

  const auto precision = precision_of(options.training.precision);
  const auto blocks = blocks_of(points, samples, true, options.workspace_mb, precision);
  const bool aligned = options.training.alignment > 0;
  KeptBlock of_this_round;
  if (kept == nullptr || blocks.size() > 1 || aligned) {
    if (kept != nullptr) kept->drop();
    kept = &of_this_round;
  }
  for (const auto& [first, last] : blocks) {
    std::vector<Client*> clients(participants.begin() + first, participants.begin() + last);
    std::vector<std::optional<ClientState>> before;
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
      strengths = alignment_strengths(training, priors, options.model, options.training, seed);
    }
    const ClientBatch& block = kept->of(training, weights, samples, options.model.jitter,
                                        /*spread=*/options.training.batch_points < 1, precision);
    std::optional<gpu::Alignment> alignment;
    if (aligned) alignment = make_alignment(block, training, priors, strengths);
    const gpu::AdamState& adam = kept->adam();
    upload(clients, priors, options.training, adam);
    std::optional<DeviceMixture> mixed;
    if (mixture) mixed.emplace(exec, block, clients, *mixture);
    for (std::int64_t epoch = 0; epoch < options.training.epochs; ++epoch)
      local_epoch(exec, block, adam, adam_options, options,
                  {seed, static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(epoch), 0}, steps,
                  aligned ? &*alignment : nullptr, mixed ? &mixed->device() : nullptr);
    exec.fence();

    const UpdatedStates updated(block, adam, aligned ? &*alignment : nullptr);
    for (int k = 0; k < last - first; ++k) {
      LocalReport& report = reports[first + k];
      report = updated.report(k, *clients[k]);
      if (!report.failure) {
        updated.take(k, *clients[k]);
        if (mixed) mixed->read(k, clients[k]->state);
      } else if (before[k]) {
        clients[k]->state = std::move(*before[k]);
      }
    }
  }
  return reports;
}

void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed) {
  const gpu::Region region("fedpp::fit_latent");
  const gpu::Exec exec;
  const int samples = static_cast<int>(options.training.samples);
  std::vector<ClientPoints> points;
  for (Client* c : clients) points.push_back({c, &c->training});
  for (const auto& [first, last] : blocks_of(points, samples, false, options.workspace_mb)) {
    std::vector<WeightPosterior> weights;
    for (int k = first; k < last; ++k)
      weights.push_back(clients[k]->state.started ? clients[k]->state.weights : priors.of(clients[k]->id));
    const ClientBatch block({points.begin() + first, points.begin() + last}, weights, samples, options.model.jitter,
                            false, false);
    const auto& b = block.batch();
    const auto& f = block.fields();
    gpu::draw_weights(exec, b, f, {seed, kFitRound, 0, 0});
    embed_and_project(exec, b, f, block.encoder());
    model::e_steps(exec, b, f, e_steps);
    exec.fence();
    std::vector<int> info;
    gpu::to_host(f.info, info);
    const LatentPosteriors latent = block.read_latent();
    for (int k = first; k < last; ++k) {
      const auto problem = [&](int client) { return info.begin() + block.realisation_begin(client - first) * samples; };
      if (std::all_of(problem(k), problem(k + 1), [](int code) { return code == 0; }))
        block.take_latent(latent, k - first, clients[k]->state);
    }
  }
}

}  // namespace fedpp::model
