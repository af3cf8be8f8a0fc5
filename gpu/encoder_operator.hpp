// What an encoder does with the data of a batch: its embedding and the adjoint (theory 1.7).
#pragma once

#include <memory>

#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// The embedding of one batch: constructed when the batch's data are on the device, since it lays out its work space
/// by them; one launch sequence over all clients, samples and realisations a call.
class EncoderOperator {
 public:
  virtual ~EncoderOperator() = default;
  /// fields.embedding [D x (N+Q)] of every problem and fields.inducing_embedding [D x M] of every factor, from
  /// fields.weights. Tiles with tile_scale = 0 are skipped where `batch_only`.
  virtual void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) = 0;
  /// fields.gradient [weights of each (client, sample)] from fields.embedding_adjoint and
  /// fields.inducing_embedding_adjoint, over the tiles of the mini-batch and the inducing points of sets that have one;
  /// embed() came before with the same weights, once for every call, which may overwrite what it left, and the adjoints
  /// given. Complete after collect().
  virtual void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) = 0;
  /// What adjoint() leaves to the end: sums over a client's realisations, where it goes by chunks.
  virtual void collect(const Exec&, const Batch&, const Fields&) {}
};

/// The operator of a batch whatever its clients' encoders. `with_gradient`: adjoint() will be called.
std::unique_ptr<EncoderOperator> make_encoder_operator(const Batch& batch, const Fields& fields, bool with_gradient);

}  // namespace fedpp::gpu
