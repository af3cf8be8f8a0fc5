#include "model/kept_block.hpp"

namespace fedpp::model {

const ClientBatch& KeptBlock::of(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                                 const BatchOptions& options) {
  Made asked{{}, {}, options};
  for (const auto& c : clients) {
    asked.clients.push_back(c.client);
    asked.realisations.push_back(c.realisations->size());
  }
  if (block_ && asked == made_) {
    block_->restart(clients, weights);
    return *block_;
  }
  drop();  // the arrays are free before the new ones are made
  ClientBatch block(clients, weights, options);
  adam_ = gpu::make_adam_state(block.batch());
  made_ = std::move(asked);
  return block_.emplace(std::move(block));
}

void KeptBlock::drop() {
  block_.reset();
  adam_ = {};
}

}  // namespace fedpp::model
