// The clients' mixtures of models on the device, and back.
#pragma once

#include <vector>

#include "gpu/mixture.hpp"
#include "model/client_batch.hpp"
#include "model/model_mixture.hpp"

namespace fedpp::model {

class DeviceMixture {
 public:
  /// From the clients' state.mixing and state.core; sets the block's posteriors to the mixtures.
  DeviceMixture(const gpu::Exec& exec, const ClientBatch& block, const std::vector<Client*>& clients,
                const ModelMixture& mixture);

  const gpu::Mixture& device() const { return device_; }

  /// Shares and own model of client k of the block.
  void read(int k, ClientState& state) const;

 private:
  gpu::Mixture device_;
};

}  // namespace fedpp::model
