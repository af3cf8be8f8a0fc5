#include "federation/personal_priors.hpp"

#include "federation/community_barycentres.hpp"

namespace fedpp::federation {

Communities PersonalPriors::update(RunState& state, const std::map<std::int64_t, model::WeightPosterior>& uploads,
                                   std::int64_t round, const AggregatorOptions& options) {
  for (const auto& [client, posterior] : uploads) state.uploads[client] = {round, posterior};
  const auto keep = session_.config().aggregation.keep_uploads;
  std::erase_if(state.uploads, [&](const auto& entry) { return round - entry.second.round > keep; });
  auto communities = graph_.update(state.uploads);
  AggregatorOptions with_bandwidth = options;
  with_bandwidth.bandwidth = state.bandwidth;
  state.theta.own = community_barycentres(
      session_.world(), [&](std::int64_t client) { return session_.placement().rank_of(client); }, communities,
      state.uploads, state.theta.common, with_bandwidth);
  return communities;
}

std::vector<std::int64_t> community_of_each(const Communities& communities, std::int64_t clients) {
  std::vector<std::int64_t> all(clients, -1);
  for (std::size_t k = 0; k < communities.clients.size(); ++k) all[communities.clients[k]] = communities.partition[k];
  return all;
}

}  // namespace fedpp::federation
