// What f at a batch's points is read through: V = L^-1 k under every sample of the weights (theory 1.2, 1.7).
#pragma once

#include "gpu/encoder_operator.hpp"
#include "gpu/kernels.hpp"
#include "gpu/region.hpp"

namespace fedpp::model {

/// K(z,z), its factor, V and the moments of f, by embeddings that are there.
inline void project(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields,
                    bool batch_only = false) {
  const gpu::Region region("fedpp::project");
  gpu::factorise(exec, batch, fields, gpu::kJitterLimit, batch_only);
  gpu::features(exec, batch, fields, batch_only);
}

/// The embeddings first, at the weights that are there.
inline void embed_and_project(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields,
                              gpu::EncoderOperator& encoder, bool batch_only = false) {
  gpu::embed(exec, batch, fields, encoder, batch_only);
  project(exec, batch, fields, batch_only);
}

}  // namespace fedpp::model
