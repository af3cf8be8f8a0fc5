// A rank's batch, kept from round to round while the same clients take part.
#pragma once

#include <memory>
#include <vector>

#include "model/batch_options.hpp"
#include "model/client_points.hpp"

namespace fedpp::gpu {
struct AdamState;
}  // namespace fedpp::gpu

namespace fedpp::model {

class ClientBatch;

/// The block of a rank whose participants fit into one: laid out and uploaded again only where it has changed, so that
/// a round of the same clients takes no memory.
class KeptBlock {
 public:
  KeptBlock();
  ~KeptBlock();
  /// The block of these clients, their states and `weights` uploaded: the last one where the clients and the options
  /// are the same. The clients' objects must live, and their training points not change, as long as this.
  const ClientBatch& of(const std::vector<ClientPoints>& clients, const std::vector<WeightPosterior>& weights,
                        const BatchOptions& options);
  /// The optimiser of the block that of() returned last, with whatever was in its arrays.
  const gpu::AdamState& adam() const;
  /// Frees the arrays.
  void drop();

 private:
  struct Made;
  std::unique_ptr<Made> made_;
};

}  // namespace fedpp::model
