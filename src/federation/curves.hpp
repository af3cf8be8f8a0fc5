// Intensity curves with bands, and calibration, in an HDF5 file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "federation/communities.hpp"
#include "federation/predictable.hpp"
#include "federation/progress.hpp"
#include "federation/selected_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Collective. Intensity curves with 5/50/95 % bands of these clients in a state (and their events and histogram), and
/// the QQ of the rescaled increments and the client graph where there are any, into an HDF5 file (docs/results.md).
/// Returns the clients that are left out.
std::vector<std::int64_t> write_curves(Session& session, const SelectedState& state,
                                       const std::vector<std::int64_t>& clients, Unpredictable unpredictable,
                                       const std::vector<std::int64_t>& uniforms, const Communities& graph,
                                       const std::string& path, Progress& progress);

}  // namespace fedpp::federation
