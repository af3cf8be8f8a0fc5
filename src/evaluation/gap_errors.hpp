// Errors of predicted gaps: how far the time of each held-out event is from what was expected at the event before it in
// its sequence, and simple predictors to stand beside.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/client_data.hpp"
#include "evaluation/next_event.hpp"

namespace fedpp::evaluation {

/// A step of a sequence from one distinct time to the next (ties are one time). File unit of time.
struct GapStep {
  std::size_t sequence = 0;  ///< index into ClientData::sequences
  double previous = 0;       ///< the last time before it, whatever its split
  double gap = 0;            ///< > 0
  std::size_t before = 0;    ///< times of the sequence's history up to `previous`
};

/// The steps that end in events of `split`, by sequence and time. Steps from before the sequence's first time, or that
/// lead through time outside the observation windows of all splits, are left out: what happened there is unknown.
std::vector<GapStep> gap_steps(const data::ClientData& client, data::Split split);

/// Whether the observation ends, or is interrupted, at times that are no event's: what goes on there is a gap without a
/// step.
bool cuts_gaps(const data::ClientData& client);

/// Sums over steps; file unit of time.
struct GapErrors {
  double squares = 0, absolute = 0;
  void add(double predicted, double actual);
};

/// Predicted gaps [step] of `steps` by the exponential Hawkes process fitted on the client's training windows: the
/// expectation, on `grid` (file unit).
std::vector<double> hawkes_gaps(const data::ClientData& client, const std::vector<GapStep>& steps, const GapGrid& grid);

/// Mean and median of the training steps' gaps, and how many; NaN without any.
struct TypicalGap {
  double mean, median, count;
};
TypicalGap typical_gap(const data::ClientData& client);

/// Root mean square and mean absolute error of each predictor over all clients that are not hostile, per held-out
/// split.
struct GapTable {
  struct Row {
    std::string name;
    std::array<GapErrors, 2> errors;  ///< validation, test
  };
  std::string unit;
  double horizon = 0;              ///< of the grid, file unit
  std::array<double, 2> events{};  ///< steps of validation and test
  std::vector<Row> rows;           ///< ours first
  bool cut = false;                ///< whether cuts_gaps() of some client
};

std::string to_text(const GapTable& table);
/// {unit, horizon, cut, validation, test}, each split {events, predictors: [{name, rmse, mae}]}; null without events.
nlohmann::json to_json(const GapTable& table);

}  // namespace fedpp::evaluation
