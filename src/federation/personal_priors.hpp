// An aggregation.scope but "global": the server finds communities of clients and gives each client its own prior
// (theory 2.4).
#pragma once

#include "federation/aggregator.hpp"
#include "federation/communities.hpp"
#include "federation/run_state.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

class PersonalPriors {
 public:
  explicit PersonalPriors(Session& session) : session_(session), graph_(session) {}

  /// Collective. `uploads`: this rank's that were accepted in `round`. They take the place of their clients' former
  /// ones; those older than aggregation.keep_uploads are dropped, and their clients go back to the common prior. Sets
  /// state.uploads and state.theta.own.
  Communities update(RunState& state, const std::map<std::int64_t, model::WeightPosterior>& uploads, std::int64_t round,
                     const AggregatorOptions& options);

 private:
  Session& session_;
  ClientGraph graph_;
};

/// The community of each of `clients` clients, -1 for those outside the graph.
std::vector<std::int64_t> community_of_each(const Communities& communities, std::int64_t clients);

}  // namespace fedpp::federation
