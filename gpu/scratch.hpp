// What the launches of a batch want of scratch, by its sizes alone: so that a run can say at its start that a device has
// no room for a team's, and what global memory all teams hold. Each function stands in the file of the kernels that it
// speaks of and calls what they call.
#pragma once

#include <algorithm>
#include <vector>

#include "gpu/batch.hpp"

namespace fedpp::gpu {

/// Of the launches that were added: the most of each.
struct ScratchWanted {
  Index team = 0;   ///< bytes of a team
  Index teams = 0;  ///< bytes of memory beside the arrays: of all teams that run at a time, on hosts of every thread,
                    ///< whether it has a team or not. Kokkos keeps the most

  void launch(Index league, Index doubles) {
    const TeamScratch scratch = team_scratch(doubles);
    team = std::max(team, scratch.bytes);
    const Index at_a_time = kHostBackend ? concurrent_teams() : std::min<Index>(league, concurrent_teams());
    if (scratch.level == 1) teams = std::max(teams, scratch.bytes * at_a_time);
  }

  /// Of a batch that has both: an upper bound.
  ScratchWanted& operator+=(const ScratchWanted& other) {
    team = std::max(team, other.team);
    teams = std::min(teams + other.teams, team * concurrent_teams());
    return *this;
  }
};

// `batch`: batch_sizes() will do.
void add_selection_scratch(const Batch& batch, ScratchWanted& wanted);
void add_factorise_scratch(const Batch& batch, ScratchWanted& wanted);
void add_features_scratch(const Batch& batch, ScratchWanted& wanted);
void add_augment_scratch(const Batch& batch, ScratchWanted& wanted);
void add_variational_scratch(const Batch& batch, ScratchWanted& wanted);
void add_adjoint_scratch(const Batch& batch, ScratchWanted& wanted);
void add_average_scratch(const Batch& batch, ScratchWanted& wanted);
void add_expectation_scratch(const Batch& batch, ScratchWanted& wanted);

/// Of a local update, or of predictions, for a client.
ScratchWanted scratch_wanted(const ClientExtent& client, const std::vector<RealisationExtent>& realisations,
                             bool with_gradient);

}  // namespace fedpp::gpu
