#include "gpu/scratch.hpp"

#include <algorithm>

#include "gpu/launch_scratch.hpp"

namespace fedpp::gpu {

void ScratchWanted::launch(Index league, Index doubles) {
  const TeamScratch scratch = team_scratch(doubles);
  team = std::max(team, scratch.bytes);
  const Index at_a_time = kHostBackend ? concurrent_teams() : std::min<Index>(league, concurrent_teams());
  if (scratch.level == 1) teams = std::max(teams, scratch.bytes * at_a_time);
}

ScratchWanted& ScratchWanted::operator+=(const ScratchWanted& other) {
  team = std::max(team, other.team);
  teams = std::min(teams + other.teams, team * concurrent_teams());
  return *this;
}

ScratchWanted scratch_wanted(const ClientExtent& client, const std::vector<RealisationExtent>& realisations,
                             bool with_gradient) {
  const Batch batch = batch_sizes({client}, realisations);
  ScratchWanted wanted;
  encoder_family(client.encoder.kind).add_scratch(client.encoder, batch, with_gradient, wanted);
  add_factorise_scratch(batch, wanted);
  add_features_scratch(batch, wanted);
  add_augment_scratch(batch, wanted);
  add_variational_scratch(batch, wanted);
  if (with_gradient) {
    add_selection_scratch(batch, wanted);
    add_adjoint_scratch(batch, wanted);
  } else {
    add_average_scratch(batch, wanted);
    add_expectation_scratch(batch, wanted);
  }
  return wanted;
}

}  // namespace fedpp::gpu
