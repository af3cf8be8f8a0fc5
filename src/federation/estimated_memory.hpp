// The memory that a training will take on this rank.
#pragma once

#include "evaluation/next_event.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Bytes, upper bounds (docs/profiling.md).
struct EstimatedMemory {
  double arrays = 0;   ///< on the device
  double process = 0;  ///< resident memory; on a host with the arrays
};

/// What is there now, the largest arrays of a phase, states, and what the clients' graph needs. Validation windows are
/// to be laid out before. \param gaps the grid of next events, nullptr where none are asked for
EstimatedMemory estimated_memory(const Session& session, const evaluation::GapGrid* gaps);

}  // namespace fedpp::federation
