#include "model/loss_gradient.hpp"

#include <limits>

#include "gpu/kernels.hpp"
#include "model/e_steps.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

LossGradient::LossGradient(const std::vector<const Client*>& clients, const LocalOptions& options)
    : clients_(clients),
      batch_(training_points(clients), own_weights(training_points(clients)),
             {.samples = static_cast<int>(options.training.samples), .jitter = options.jitter, .with_gradient = true}),
      by_mean_("by_mean", batch_.batch().lengths.posterior),
      by_sd_("by_sd", batch_.batch().lengths.posterior) {}

std::vector<Loss> LossGradient::at(const std::vector<WeightPosterior>& weights, std::uint64_t seed, std::int64_t round,
                                   int e_steps) {
  const gpu::Region region("fedpp::loss_gradient");
  const auto& b = batch_.batch();
  const auto& f = batch_.fields();
  batch_.set_weights(weights);
  gpu::draw_weights(exec_, b, f, {seed, static_cast<std::uint32_t>(round), 0, 0}, gpu::DrawPurpose::kLoss);
  embed_and_project(exec_, b, f, batch_.encoder());
  gpu::augment(exec_, b, f, /*with_bound=*/true);
  model::e_steps(exec_, b, f, e_steps);
  gpu::elbo(exec_, b, f);
  gpu::adjoint(exec_, b, batch_.chunks(), f, batch_.encoder());
  gpu::posterior_gradient(exec_, b, f, by_mean_, by_sd_);
  exec_.fence();

  std::vector<double> elbo, by_mean, by_sd;
  std::vector<int> info;
  gpu::to_host(f.elbo, elbo);
  gpu::to_host(by_mean_, by_mean);
  gpu::to_host(by_sd_, by_sd);
  gpu::to_host(f.info, info);
  std::vector<Loss> losses(clients_.size());
  for (int k = 0; k < static_cast<int>(clients_.size()); ++k) {
    losses[k].value = batch_.failed_factor(k, info) ? std::numeric_limits<double>::quiet_NaN() : -elbo[k];
    const auto from = batch_.posterior_offset(k);
    for (auto j = from; j < from + static_cast<gpu::Index>(weights[k].mean.size()); ++j) {
      losses[k].by_mean.push_back(-by_mean[j]);
      losses[k].by_sd.push_back(-by_sd[j]);
    }
  }
  return losses;
}

}  // namespace fedpp::model
