// What the inputs of an encoder mean: fixed by the data a federation was trained on, kept with its weights, and taken
// over, never measured anew, where these weights meet other data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/client_data.hpp"
#include "data/history.hpp"

namespace fedpp::data {

struct Plan;

struct InputScale {
  Clock clock;                          ///< model time of a file time
  GapScale gaps;                        ///< of history encoders; mean 0, sd 1 with the others
  std::int64_t types = 0;               ///< event types 0 .. types - 1 that a type embedding knows
  std::vector<std::string> type_names;  ///< [types] theirs in the data files; empty where types are numbers
};

/// Gives a finished plan the clock of a trained federation. \param embeds_types whether the encoder embeds event types
/// \throws UserError where the plan's data or configuration cannot be on it: another kind of clock, another window, or
/// a type that the embedding does not know or knows under another name
void adopt(Plan& plan, const InputScale& trained, bool embeds_types);

}  // namespace fedpp::data
