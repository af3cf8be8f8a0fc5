#include "model/block_update.hpp"

#include <algorithm>
#include <utility>

#include "model/alignment.hpp"
#include "model/optimiser_states.hpp"

namespace fedpp::model {

namespace {

/// As many steps an epoch as the client with the most of them takes.
MiniBatches mini_batches_of(const std::vector<Client*>& clients, const config::Training& training) {
  int steps = 1;
  for (const Client* client : clients) steps = std::max(steps, mini_batches(*client, training));
  return {steps, static_cast<int>(training.batch_realisations), training.batch_points};
}

/// Starts a posterior at the prior: at the client's first participation, or in every round ("overwrite"). Returns the
/// start before, where that has changed it.
std::optional<StartPutAside> start(Client& client, const WeightPosterior& prior, const LocalOptions& options) {
  if (client.state.started && !options.overwrite) return std::nullopt;
  StartPutAside before(client);
  restart_from(client, prior, options.training.sd_map);
  return before;
}

std::vector<std::optional<StartPutAside>> start_all(const std::vector<Client*>& clients, const Priors& priors,
                                                    const LocalOptions& options) {
  std::vector<std::optional<StartPutAside>> put_aside;
  for (Client* client : clients) put_aside.push_back(start(*client, priors.of(client->id), options));
  return put_aside;
}

bool aligned(const LocalOptions& options) { return options.training.alignment > 0; }

gpu::AdamOptions adam_options(const LocalOptions& options, const Priors& priors) {
  return {options.training.beta1,
          options.training.beta2,
          options.training.epsilon,
          options.schedule,
          options.training.prior_weight,
          options.bandwidth,
          priors.proximal,
          options.divergence,
          sd_map_of(options.training.sd_map)};
}

}  // namespace

BlockUpdate::BlockUpdate(std::vector<Client*> clients, const Priors& priors, const LocalOptions& options,
                         std::uint64_t seed, KeptBlock& kept, const ModelMixture* mixture)
    : clients_(std::move(clients)),
      training_(training_points(clients_)),
      seed_(seed),
      epochs_(options.training.epochs),
      mini_batches_(mini_batches_of(clients_, options.training)),
      put_aside_(start_all(clients_, priors, options)),
      strengths_(aligned(options)  // before the block is there: they take arrays of their own for a while
                     ? alignment_strengths(training_, priors, options.jitter, options.training, seed)
                     : std::vector<double>()),
      block_(kept.of(training_, own_weights(training_), batch_options(options))),
      adam_(kept.adam()),
      adam_options_(adam_options(options, priors)) {
  if (aligned(options)) alignment_ = make_alignment(block_, training_, priors, strengths_);
  upload_optimiser(clients_, priors, options.training, adam_);
  if (mixture) mixture_.emplace(exec_, block_, clients_, *mixture);
}

void BlockUpdate::run_epochs(std::int64_t round) {
  const EpochParts parts{block_,        adam_,       adam_options_,
                         mini_batches_, alignment(), mixture_ ? &mixture_->device() : nullptr};
  for (std::int64_t epoch = 0; epoch < epochs_; ++epoch)
    local_epoch(exec_, parts, {seed_, static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(epoch), 0});
  exec_.fence();
}

std::vector<LocalReport> BlockUpdate::finish() {
  const UpdatedStates updated(block_, adam_, alignment());
  std::vector<LocalReport> reports;
  for (int k = 0; k < static_cast<int>(clients_.size()); ++k) {
    Client& client = *clients_[k];
    const auto& report = reports.emplace_back(updated.report(k, client));
    if (!report.failure) {
      updated.take(k, client);
      if (mixture_) mixture_->read(k, client.state);
    } else if (put_aside_[k]) {
      std::move(*put_aside_[k]).put_back(client);
    }
  }
  return reports;
}

}  // namespace fedpp::model
