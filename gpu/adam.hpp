// The stochastic step on the weights' posterior (theory 1.6): reparameterised gradient, prior divergence (2.1), Adam.
#pragma once

#include "gpu/adam_options.hpp"
#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// State per client and weight, at Batch::posterior offsets; `raw` maps to delta, moments are Adam's, for r and raw in
/// turn.
struct AdamState {
  Array<double> prior_mean, prior_sd, centre, learning_rate, raw;
  Array<double> first_mean, second_mean, first_raw, second_raw;
  Array<std::int64_t> steps;  // [client]
  Array<double> divergence;   // [client] weighted divergence to the prior at the state before the last step
};

AdamState make_adam_state(const Batch& batch);

/// One ascent step of every client with step_taken: gradient of mean_s J(w_s) - weight dv - mu/2 |r - centre|^2 with
/// respect to (r, delta).
void adam_step(const Exec& exec, const Batch& batch, const Fields& fields, const AdamState& state,
               const AdamOptions& options);

/// The gradient that adam_step() goes along, [posterior] each, where the step itself is another's.
void objective_gradient(const Exec& exec, const Batch& batch, const Fields& fields, const AdamState& state,
                        const AdamOptions& options, const Array<double>& by_mean, const Array<double>& by_sd);

/// adam_step() along a given gradient.
void adam_step_along(const Exec& exec, const Batch& batch, const Fields& fields, const AdamState& state,
                     const AdamOptions& options, const Array<double>& by_mean, const Array<double>& by_sd);

/// The weighted divergence of each client at its present (r, delta), into state.divergence.
void prior_divergence(const Exec& exec, const Batch& batch, const Fields& fields, const AdamState& state,
                      const AdamOptions& options);

/// delta = map(raw) and its inverse, for single values.
KOKKOS_INLINE_FUNCTION double sd_of_raw(SdMap map, double raw) {
  if (map == SdMap::kExp) return math::exp(raw);
  return raw > 30 ? raw : math::log1p(math::exp(raw));
}
KOKKOS_INLINE_FUNCTION double raw_of_sd(SdMap map, double sd) {
  if (map == SdMap::kExp) return math::log(sd);
  return sd > 30 ? sd : math::log(std::expm1(sd));
}

}  // namespace fedpp::gpu
