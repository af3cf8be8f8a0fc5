#include "model/latent_posterior.hpp"

#include <fmt/format.h>

#include <optional>

#include "gpu/averages.hpp"
#include "gpu/kernels.hpp"
#include "model/draw_keys.hpp"
#include "model/e_steps.hpp"
#include "model/fitted_posterior.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

namespace {

/// The training points under samples of the weights.
void read_training_points(const gpu::Exec& exec, const ClientBatch& trained, std::uint64_t seed) {
  const auto& b = trained.batch();
  const auto& f = trained.fields();
  gpu::draw_weights(exec, b, f, {seed, kPredictionRound, 0, 0});
  embed_and_project(exec, b, f, trained.encoder());
}

/// E-steps; with bands under nu's prior, m so that the mean adds up to the events, and returns what nu and m add to them.
std::optional<LevelUncertainty> fit_latent_posterior(const gpu::Exec& exec, const ClientBatch& trained, int clients,
                                                     const PredictionOptions& options, bool averaged) {
  const auto& b = trained.batch();
  const auto& f = trained.fields();
  const bool bands = options.bands && options.e_steps > 0;
  if (bands) {
    exec.fence();
    start_under_offset_prior(trained, clients, options.samples);
  }
  const double offset_precision = bands ? 1 / (kOffsetSd * kOffsetSd) : 0;
  (averaged ? averaged_e_steps : e_steps)(exec, b, f, options.e_steps, offset_precision);
  if (bands && averaged) gpu::moments(exec, b, f);  // of every sample
  exec.fence();
  if (!bands) return std::nullopt;
  auto level = widen_to_expected_information(exec, trained, clients, options.samples);
  gpu::moments(exec, b, f);
  match_rates_to_events(exec, trained, clients);
  return level;
}

void require_factorisations(const LatentPosterior::Fitted& fitted) {
  std::vector<int> info;
  gpu::to_host(fitted.trained->fields().info, info);
  for (int k = 0; k < static_cast<int>(fitted.clients.size()); ++k)
    if (const auto failed = fitted.trained->failed_factor(k, info))
      throw PredictionError(fmt::format(
          "client {}, realisation {}, sample {}: the Cholesky factorisation of K(z,z) fails at prediction even "
          "with a relative jitter of {:g}",
          fitted.clients[k]->id, failed->realisation, failed->sample, gpu::kJitterLimit));
}

}  // namespace

bool on_averages(const Client& client, const PredictionOptions& options) {
  gpu::Index averages = 0, v = 0;
  for (const auto& extent : extents_of({&client, &client.training})) {
    averages += gpu::average_doubles(extent);
    v += static_cast<gpu::Index>(options.samples) * extent.inducing * extent.columns;
  }
  return gpu::averages_pay(options.samples, options.e_steps, averages, v);
}

LatentPosterior::LatentPosterior(std::vector<const Client*> clients, const Priors& priors,
                                 const PredictionOptions& options, bool averaged)
    : fitted_(std::make_unique<Fitted>()) {
  auto& fitted = *fitted_;
  fitted.options = options;
  fitted.clients = std::move(clients);
  for (const Client* client : fitted.clients) fitted.weights.push_back(weights_of(*client, priors));
  const auto& trained = fitted.trained.emplace(training_points(fitted.clients), fitted.weights,
                                               BatchOptions{.samples = options.samples, .jitter = options.jitter});
  const auto& f = trained.fields();
  read_training_points(fitted.exec, trained, options.seed);
  fitted.level = fit_latent_posterior(fitted.exec, trained, static_cast<int>(fitted.clients.size()), options, averaged);
  if (options.bands) {
    gpu::to_host(f.v_mean, fitted.v_mean);
    gpu::to_host(f.v_factor, fitted.v_factor);
  }
  require_factorisations(fitted);
  gpu::to_host(f.rate, fitted.rates);
}

LatentPosterior::~LatentPosterior() = default;
LatentPosterior::LatentPosterior(LatentPosterior&&) noexcept = default;

}  // namespace fedpp::model
