// The clients' optimisers onto the device, and what a local update leaves there back on the host: each client's report
// and its state.
#pragma once

#include <string>
#include <vector>

#include "gpu/adam.hpp"
#include "gpu/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/local_report.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

/// The clients' Adam state, and the priors that they are drawn to, onto the device.
void upload_optimiser(const std::vector<Client*>& clients, const Priors& priors, const config::Training& training,
                      const gpu::AdamState& device);

class UpdatedStates {
 public:
  /// Reads one copy of each array. \param alignment nullptr: none is in the update
  UpdatedStates(const ClientBatch& block, const gpu::AdamState& adam, const gpu::Alignment* alignment);

  /// The report on client k of the block.
  LocalReport report(int k, const Client& client) const;

  /// Writes the result into client k's state; only where its report has no failure.
  void take(int k, Client& client) const;

 private:
  /// Jitter and failures of the factorisations of client k's K(z,z).
  void add_factorisations(int k, LocalReport& report) const;
  /// Why the result is unusable although all factorisations succeeded; "" if it is usable.
  std::string unusable(int k, const Client& client, const LocalReport& report) const;

  const ClientBatch& block_;
  std::vector<double> mean_, sd_, raw_, first_mean_, second_mean_, first_raw_, second_raw_;  ///< [P] each client
  std::vector<double> elbo_, divergence_, alignment_;                                        ///< [clients]
  std::vector<double> jitter_, pivot_;                                                       ///< [problems]
  std::vector<int> info_;                                                                    ///< [problems]
  std::vector<std::int64_t> steps_;                                                          ///< [clients]
  LatentPosteriors latent_;
};

}  // namespace fedpp::model
