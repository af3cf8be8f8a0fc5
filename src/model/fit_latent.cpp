#include "model/fit_latent.hpp"

#include "gpu/kernels.hpp"
#include "gpu/region.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/draw_keys.hpp"
#include "model/e_steps.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

namespace {

void fit_block(const std::vector<Client*>& clients, const Priors& priors, const BatchOptions& options, int e_steps,
               std::uint64_t seed) {
  const gpu::Exec exec;
  std::vector<WeightPosterior> weights;
  for (const Client* client : clients) weights.push_back(weights_of(*client, priors));
  const ClientBatch block(training_points(clients), weights, options);
  const auto& b = block.batch();
  const auto& f = block.fields();
  gpu::draw_weights(exec, b, f, {seed, kFitRound, 0, 0});
  embed_and_project(exec, b, f, block.encoder());
  model::e_steps(exec, b, f, e_steps);
  exec.fence();
  std::vector<int> info;
  gpu::to_host(f.info, info);
  const LatentPosteriors latent = block.read_latent();
  for (int k = 0; k < static_cast<int>(clients.size()); ++k)
    if (!block.failed_factor(k, info)) block.take_latent(latent, k, clients[k]->state);
}

}  // namespace

void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed) {
  const gpu::Region region("fedpp::fit_latent");
  const BatchOptions of_block{.samples = static_cast<int>(options.training.samples), .jitter = options.jitter};
  for (const auto& [first, last] : blocks_of(training_points(clients), of_block, options.workspace_mb))
    fit_block({clients.begin() + first, clients.begin() + last}, priors, of_block, e_steps, seed);
}

}  // namespace fedpp::model
