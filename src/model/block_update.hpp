// The local update of the clients of one block (spec 1.6): they start, advance together by epochs, and report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/adam.hpp"
#include "gpu/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/kept_block.hpp"
#include "model/local_epoch.hpp"
#include "model/local_options.hpp"
#include "model/local_report.hpp"
#include "model/mixing.hpp"
#include "model/model_mixture.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

class BlockUpdate {
 public:
  /// Starts the clients' posteriors at their priors, where they begin or always do ("overwrite"), and brings all that
  /// the epochs need onto the device; batch and optimiser are those of `kept`, which must outlive this.
  /// \param mixture nullptr: the clients learn none
  /// \throws UserError where mini_batches() does, before any of their states has changed
  BlockUpdate(std::vector<Client*> clients, const Priors& priors, const LocalOptions& options, std::uint64_t seed,
              KeptBlock& kept, const ModelMixture* mixture);

  /// The epochs of a round on the device, until they are done. Random numbers are keyed by (seed, round, epoch).
  void run_epochs(std::int64_t round);

  /// Brings the result into the clients' states; those whose update failed are as they were before the start. Reports
  /// in the order of the clients. Once, after the epochs.
  std::vector<LocalReport> finish();

 private:
  const gpu::Alignment* alignment() const { return alignment_ ? &*alignment_ : nullptr; }

  std::vector<Client*> clients_;
  std::vector<ClientPoints> training_;
  std::uint64_t seed_;
  std::int64_t epochs_;
  MiniBatches mini_batches_;
  std::vector<std::optional<StartPutAside>> put_aside_;  ///< of each client that the start has changed
  std::vector<double> strengths_;                        ///< of the alignment, if there is one
  gpu::Exec exec_;
  const ClientBatch& block_;
  const gpu::AdamState& adam_;
  gpu::AdamOptions adam_options_;
  std::optional<gpu::Alignment> alignment_;
  std::optional<DeviceMixture> mixture_;
};

}  // namespace fedpp::model
