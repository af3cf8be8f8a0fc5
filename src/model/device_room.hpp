// What a device's kernels need beside the arrays of a batch, and whether there is room for it.
#pragma once

#include "config/options.hpp"
#include "gpu/scratch.hpp"
#include "model/batch_options.hpp"
#include "model/client_points.hpp"

namespace fedpp::model {

/// Scratch of the launches on a client's points.
gpu::ScratchWanted scratch_of(const ClientPoints& points, const BatchOptions& options);

/// Throws UserError where a team of a local update wants more scratch than one of this rank's device can have: too many
/// inducing points, or too wide an encoder. Hosts have no such limit.
void check_device_room(const gpu::Encoder& encoder, const config::Config& config);

}  // namespace fedpp::model
