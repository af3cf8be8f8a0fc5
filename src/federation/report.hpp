// What a training leaves behind.
#pragma once

#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Collective. result.json, result.h5, the table, after training.
void report(Session& session, RunState& state, Progress& progress, Phases& phases);

}  // namespace fedpp::federation
