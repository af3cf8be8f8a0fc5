#include "model/kept_block.hpp"

namespace fedpp::model {

const ClientBatch& KeptBlock::of(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                                 int samples, double jitter, bool spread, gpu::Precision precision) {
  std::vector<const Client*> asked;
  for (const auto& c : clients) asked.push_back(c.client);
  if (block_ && asked == clients_) {
    block_->restart(clients, weights);
    return *block_;
  }
  drop();  // the arrays are free before the new ones are made
  clients_ = std::move(asked);
  block_.emplace(clients, weights, samples, jitter, /*with_gradient=*/true, spread, precision);
  adam_ = gpu::make_adam_state(block_->batch());
  return *block_;
}

void KeptBlock::drop() {
  block_.reset();
  adam_ = {};
}

}  // namespace fedpp::model
