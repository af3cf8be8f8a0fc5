#include "model/loss_gradient.hpp"

#include <limits>

#include "gpu/kernels.hpp"
#include "model/client_batch.hpp"
#include "model/e_steps.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

struct LossGradient::Block {
  std::vector<const Client*> clients;
  gpu::Exec exec;
  ClientBatch batch;
  gpu::Array<double> by_mean, by_sd;

  Block(const std::vector<const Client*>& all, const LocalOptions& options)
      : clients(all),
        batch(training_points(all), own_weights(training_points(all)),
              {.samples = static_cast<int>(options.training.samples), .jitter = options.jitter, .with_gradient = true}),
        by_mean("by_mean", batch.batch().lengths.posterior),
        by_sd("by_sd", batch.batch().lengths.posterior) {}
};

LossGradient::LossGradient(const std::vector<const Client*>& clients, const LocalOptions& options)
    : block_(std::make_unique<Block>(clients, options)) {}
LossGradient::~LossGradient() = default;

std::vector<Loss> LossGradient::at(const std::vector<WeightPosterior>& weights, std::uint64_t seed, std::int64_t round,
                                   int e_steps) {
  const gpu::Region region("fedpp::loss_gradient");
  const auto& clients = block_->clients;
  const auto& exec = block_->exec;
  const auto& batch = block_->batch;
  const auto& b = batch.batch();
  const auto& f = batch.fields();
  batch.set_weights(weights);
  gpu::draw_weights(exec, b, f, {seed, static_cast<std::uint32_t>(round), 0, 0}, gpu::DrawPurpose::kLoss);
  embed_and_project(exec, b, f, batch.encoder());
  gpu::augment(exec, b, f, /*with_bound=*/true);
  model::e_steps(exec, b, f, e_steps);
  gpu::elbo(exec, b, f);
  gpu::adjoint(exec, b, batch.chunks(), f, batch.encoder());
  gpu::posterior_gradient(exec, b, f, block_->by_mean, block_->by_sd);
  exec.fence();

  std::vector<double> elbo, by_mean, by_sd;
  std::vector<int> info;
  gpu::to_host(f.elbo, elbo);
  gpu::to_host(block_->by_mean, by_mean);
  gpu::to_host(block_->by_sd, by_sd);
  gpu::to_host(f.info, info);
  std::vector<Loss> losses(clients.size());
  for (int k = 0; k < static_cast<int>(clients.size()); ++k) {
    losses[k].value = batch.failed_factor(k, info) ? std::numeric_limits<double>::quiet_NaN() : -elbo[k];
    const auto from = batch.posterior_offset(k);
    for (auto j = from; j < from + static_cast<gpu::Index>(weights[k].mean.size()); ++j) {
      losses[k].by_mean.push_back(-by_mean[j]);
      losses[k].by_sd.push_back(-by_sd[j]);
    }
  }
  return losses;
}

}  // namespace fedpp::model
