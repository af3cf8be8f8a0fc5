#include "model/local_epoch.hpp"

#include "model/e_steps.hpp"
#include "model/projection.hpp"

namespace fedpp::model {

namespace {

template <class F>
void in_region(const char* name, const F& f) {
  const gpu::Region region(name);
  f();
}

/// The ELBO and the divergence from the prior in it, 1.5.
void bound(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, const gpu::AdamState& adam,
           const gpu::AdamOptions& adam_options) {
  const gpu::Region region("fedpp::bound");
  gpu::elbo(exec, batch, fields);
  gpu::prior_divergence(exec, batch, fields, adam, adam_options);
}

}  // namespace

void local_epoch(const gpu::Exec& exec, const EpochParts& parts, gpu::DrawKey key) {
  const gpu::Region region("fedpp::local_epoch");
  const auto& [block, adam, adam_options, mini, alignment, mixture] = parts;
  const auto& batch = block.batch();
  const auto& fields = block.fields();
  auto& encoder = block.encoder();
  const auto draw_and_project = [&](bool batch_only, const auto& then) {
    if (alignment) gpu::embed_received(exec, batch, fields, encoder, *alignment, key, batch_only);
    in_region("fedpp::draw_weights", [&] { gpu::draw_weights(exec, batch, fields, key); });
    if (!batch.by_chunks) gpu::embed(exec, batch, fields, encoder, batch_only);
    for (const gpu::Batch& chunk : block.chunks()) {
      if (batch.by_chunks) gpu::embed(exec, chunk, fields, encoder, batch_only);
      project(exec, chunk, fields, batch_only);
      then(chunk);
    }
  };
  // E-step: over all data.
  draw_and_project(/*batch_only=*/false, [&](const gpu::Batch& chunk) {
    in_region("fedpp::augment", [&] { gpu::augment(exec, chunk, fields); });
    update_latent(exec, chunk, fields);
  });
  update_intensity(exec, batch, fields, /*offset_precision=*/0, /*with_bound=*/true);
  bound(exec, batch, fields, adam, adam_options);
  // Stochastic steps: one, or one per mini-batch, with fresh samples after the first.
  for (int step = 0; step < mini.steps; ++step) {
    key.step = static_cast<std::uint32_t>(step);
    if (mini.steps > 1)
      in_region("fedpp::select_batch",
                [&] { gpu::select_batch(exec, batch, fields, key, mini.realisations, mini.points); });
    if (step > 0) draw_and_project(/*batch_only=*/true, [](const gpu::Batch&) {});
    gpu::adjoint(exec, batch, block.chunks(), fields, encoder, alignment);
    const gpu::Region step_region("fedpp::step");
    if (mixture)
      gpu::mixture_step(exec, batch, fields, adam, adam_options, *mixture);
    else
      gpu::adam_step(exec, batch, fields, adam, adam_options);
  }
}

}  // namespace fedpp::model
