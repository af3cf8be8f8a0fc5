// The cut of a sequence into training, validation and test (spec 1.1).
#pragma once

#include <vector>

#include "data/client_data.hpp"

namespace fedpp::data {

inline constexpr int kFewestTrainingEvents = 5;

/// Cuts a sequence in time by its events: the first 60 % train, the next 20 % validate, the last 20 % test. Without a
/// windows table the first event is conditioned on (counted nowhere) and the sequence is observed from it to its last
/// event; with one, all events within the windows count. Shares are rounded down for training and for training with
/// validation; events at equal times stay together, in the earlier part. Windows meet half-way between neighbouring
/// events, or at the last event of the earlier one (`at_event`).
/// \param sequence times set, increasing; origin, events and windows are set here
/// \param windows of the table, disjoint and increasing \param dropped grows by the events outside the table's windows
/// \return false (sequence to be left out) with fewer than five training events or where no time passes
bool cut_chronologically(ClientSequence& sequence, bool has_windows, const std::vector<Interval>& windows,
                         std::int64_t& dropped, bool at_event = false);

/// Gives a whole sequence to one split: observed on its table's windows or else on all of the common window, cut at the
/// latter. Events outside count nowhere.
void assign_whole(ClientSequence& sequence, Split split, bool has_windows, const std::vector<Interval>& windows,
                  Interval common, std::int64_t& dropped);

}  // namespace fedpp::data
