#include "gpu/scratch.hpp"

namespace fedpp::gpu {

ScratchWanted scratch_wanted(const ClientExtent& client, const std::vector<RealisationExtent>& realisations,
                             bool with_gradient) {
  const Batch batch = batch_sizes({client}, realisations);
  ScratchWanted wanted;
  encoder_family(client.encoder.kind).add_scratch(client.encoder, batch, with_gradient, wanted);
  add_factorise_scratch(batch, wanted);
  add_features_scratch(batch, wanted);
  add_augment_scratch(batch, wanted);
  add_variational_scratch(batch, wanted);
  if (with_gradient) {
    add_selection_scratch(batch, wanted);
    add_adjoint_scratch(batch, wanted);
  } else {
    add_average_scratch(batch, wanted);
    add_expectation_scratch(batch, wanted);
  }
  return wanted;
}

}  // namespace fedpp::gpu
