#include "model/kept_block.hpp"

#include <cassert>
#include <utility>

#include "gpu/adam.hpp"
#include "model/client_batch.hpp"

namespace fedpp::model {

struct KeptBlock::Made {
  struct Ingredients {
    std::vector<const Client*> clients;
    std::vector<std::size_t> realisations;
    BatchOptions options;
    bool operator==(const Ingredients&) const = default;
  } of;
  ClientBatch block;
  gpu::AdamState adam;
};

KeptBlock::KeptBlock() = default;
KeptBlock::~KeptBlock() = default;

const ClientBatch& KeptBlock::of(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                                 const BatchOptions& options) {
  Made::Ingredients asked{{}, {}, options};
  for (const auto& c : clients) {
    asked.clients.push_back(c.client);
    asked.realisations.push_back(c.realisations->size());
  }
  if (made_ && asked == made_->of) {
    made_->block.restart(clients, weights);
    return made_->block;
  }
  drop();  // the arrays are free before the new ones are made
  ClientBatch block(clients, weights, options);
  auto adam = gpu::make_adam_state(block.batch());
  made_ = std::make_unique<Made>(std::move(asked), std::move(block), std::move(adam));
  return made_->block;
}

const gpu::AdamState& KeptBlock::adam() const {
  assert(made_);
  return made_->adam;
}

void KeptBlock::drop() { made_.reset(); }

}  // namespace fedpp::model
