// The clients' mixtures of models on the device, and back.
#pragma once

#include <vector>

#include "gpu/mixture.hpp"
#include "model/client_batch.hpp"

namespace fedpp::model {

/// Models that a client mixes (gpu/mixture.hpp): in a local update each participant learns the shares state.mixing [C]
/// and its own model state.core through the mixture, which is its posterior then. Adam's state is the own model's.
struct ModelMixture {
  const std::vector<WeightPosterior>& models;  ///< [C], by client; a participant's own is not read
  const std::vector<double>& anchor;           ///< [C] what the shares are drawn to
  double rate = 0;                             ///< step on the shares, of the objective per training event
  double penalty = 0;                          ///< weight of |p - anchor|^2 / 2
};

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
