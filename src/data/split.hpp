// The cut of a sequence into training, validation and test (theory 1.1).
#pragma once

#include <vector>

#include "config/words.hpp"
#include "data/client_data.hpp"

namespace fedpp::data {

inline constexpr int kFewestTrainingEvents = 5;

using config::SplitAt;

/// Where training, validation and test windows meet (data.split_at, train_share, validation_share).
struct Cut {
  SplitAt at = SplitAt::kHalfway;  ///< kAuto, of other protocols, is kHalfway
  double training = 0.6, validation = 0.2;
};

/// Cuts a sequence: a share trains, the next validates, the rest tests, of its events or, with kTime, of its observed
/// time; windows meet half-way between neighbouring events, with kEvent at the last event of the earlier window.
/// Without a windows table the first event is conditioned on (counted nowhere) and the sequence is observed from it to
/// its last event; with one, all events within the windows count. Shares of events are rounded down for training and
/// for training with validation; events at equal times stay together, in the earlier part.
/// \param sequence times set, increasing; origin, events and windows are set here
/// \param windows of the table, disjoint and increasing \param outside grows by the events outside the table's windows
/// \return false (sequence to be left out) where no time passes, or with fewer than five training events. With kTime
/// and a windows table any number of events will do: which sequences stay must not depend on it, or rates are too high.
bool cut_chronologically(ClientSequence& sequence, bool has_windows, const std::vector<Interval>& windows,
                         std::int64_t& outside, const Cut& cut);

/// Gives a whole sequence to one split: observed on its table's windows or else on all of the common window, cut at the
/// latter. Events outside count nowhere.
void assign_whole(ClientSequence& sequence, Split split, bool has_windows, const std::vector<Interval>& windows,
                  Interval common, std::int64_t& outside);

}  // namespace fedpp::data
