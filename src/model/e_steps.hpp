// E-steps of a batch (theory 1.6): what belongs to realisations, what belongs to clients, and whole ones under weights
// that are held.
#pragma once

#include "gpu/kernels.hpp"

namespace fedpp::model {

/// Of an E-step what belongs to the realisations: q(v), 1.3. Moments and augmentation must be current.
void update_latent(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields);

/// And to the clients: m, 1.3, nu, 1.3. `offset_precision`: of a prior N(0, .) on nu; `with_bound`: the augmentation's
/// part of the ELBO, too.
void update_intensity(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields,
                      double offset_precision, bool with_bound);

/// E-steps alone, the weights held: 1.3, then `count` times q(v), 1.3, m, 1.3, nu, 1.3. Features and their moments must
/// be current.
void e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
             double offset_precision = 0);

/// The same but for rounding, on averages over the samples of the weights, where gpu::averages_pay(); the moments are
/// then those of the averages (gpu/averages.hpp). Takes memory and waits for the device.
void averaged_e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
                      double offset_precision = 0);

}  // namespace fedpp::model
