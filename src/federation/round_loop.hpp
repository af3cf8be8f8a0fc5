// The round loop (theory 2.0): from a state to the last round, or to the one in which a signal came.
#pragma once

#include "federation/phases.hpp"
#include "federation/progress.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Collective. Runs the rounds that are left, with checkpoints when they are due. Returns false where a signal ended it
/// early; a checkpoint is written then, too.
bool run_rounds(Session& session, RunState& state, Progress& progress, Phases& phases);

}  // namespace fedpp::federation
