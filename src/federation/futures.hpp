// Futures of sequences: each has a draw of the intensity for its own, and event after event is drawn by inverting the
// compensator that follows the path so far, and then part of that path's own history.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "federation/next_events.hpp"

namespace fedpp::federation {

/// One future of a sequence, on the model's clock.
struct FuturePath {
  std::int64_t client = 0;  ///< its random numbers are keyed by (seed, client, sequence, number)
  std::size_t sequence = 0;
  std::uint32_t number = 0;
  double from = 0;            ///< nothing is drawn before it; end of what was observed
  double until = 0;           ///< nothing is drawn after it
  data::Stream history;       ///< observed, then grown by what is drawn
  std::vector<double> drawn;  ///< increasing, in (from, until]
  bool cut = false;           ///< stopped at kMostDrawn events before `until`
};

inline constexpr std::size_t kMostDrawn = 10000;

/// Draws the paths to their ends, all of them one event a step. `after` gives the gap's distribution after each start
/// (NextEventReader::after) of its one draw, the path's number. A path does not depend on the others. `told` hears after
/// each step what share of the time of all paths is behind them.
void draw_futures(
    std::vector<FuturePath>& paths, std::uint64_t seed,
    const std::function<std::vector<evaluation::NextEvent>(const std::vector<GapStart>&)>& after,
    const std::function<void(double)>& told = [](double) {});

}  // namespace fedpp::federation
