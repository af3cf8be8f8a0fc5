// What the launches of a batch want of scratch, by its sizes alone: so that a run can say at its start that a device has
// no room for a team's, and what global memory all teams hold.
#pragma once

#include <vector>

#include "gpu/extents.hpp"

namespace fedpp::gpu {

/// Of the launches that were added: the most of each.
struct ScratchWanted {
  Index team = 0;   ///< bytes of a team
  Index teams = 0;  ///< bytes of memory beside the arrays: of all teams that run at a time, on hosts of every thread,
                    ///< whether it has a team or not. Kokkos keeps the most

  /// One more: of `league` teams with `doubles` of scratch each.
  void launch(Index league, Index doubles);
  /// Of a batch that has both: an upper bound.
  ScratchWanted& operator+=(const ScratchWanted& other);
};

/// Of a local update, or of predictions, for a client.
ScratchWanted scratch_wanted(const ClientExtent& client, const std::vector<RealisationExtent>& realisations,
                             bool with_gradient);

}  // namespace fedpp::gpu
