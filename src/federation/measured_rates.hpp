// What a training will take in time, from measuring some of a rank's clients.
#pragma once

#include "evaluation/next_event.hpp"
#include "federation/session.hpp"
#include "federation/validation_windows.hpp"

namespace fedpp::federation {

/// Seconds for each operation that an epoch of a client has (model::epoch_cost, with one sample but for `update`), and
/// for each client's curve. 0: not asked for, or nothing to measure it on.
struct Rates {
  double update = 0, validate = 0;                        ///< of a round
  double score = 0, trivial_models = 0, next_events = 0;  ///< after the last
  double curve = 0;
};

/// Of a few of this rank's clients (on a GPU of as many as it has in a round), which end as they were.
/// \param gaps the grid of next events, nullptr where none are asked for
Rates measured_rates(Session& session, ValidationWindows& windows, const evaluation::GapGrid* gaps);

}  // namespace fedpp::federation
