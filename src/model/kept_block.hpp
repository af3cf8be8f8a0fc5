// A rank's batch, kept from round to round while the same clients take part.
#pragma once

#include <optional>
#include <vector>

#include "model/client_batch.hpp"

namespace fedpp::model {

/// The block of a rank whose participants fit into one: laid out and uploaded again only where it has changed, so that
/// a round of the same clients takes no memory.
class KeptBlock {
 public:
  /// The block of these clients, their states and `weights` uploaded: the last one where the clients and the options
  /// are the same. The clients' objects must live, and their training points not change, as
  /// long as this.
  const ClientBatch& of(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                        const BatchOptions& options);
  /// That block's optimiser, with whatever was in its arrays.
  const gpu::AdamState& adam() const { return adam_; }
  /// Frees the arrays.
  void drop();

 private:
  struct Made {
    std::vector<const Client*> clients;
    std::vector<std::size_t> realisations;
    BatchOptions options;
    bool operator==(const Made&) const = default;
  };
  Made made_;
  std::optional<ClientBatch> block_;
  gpu::AdamState adam_;
};

}  // namespace fedpp::model
