// What uploads count for, and the clients' last ones on all ranks for strategies whose clients download them.
#pragma once

#include <vector>

#include "federation/communities.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Collective. [C] by client, the same on every rank, from each rank's own clients' uploads; the initial distribution
/// for a client without one. One sum of 2P words for each client.
std::vector<model::WeightPosterior> last_uploads(Session& session, const KeptUploads& mine);

/// A client's training events, at least one: its weight among uploads with aggregation.weights = "events".
double training_events(const OwnedClient& client);

/// Collective. [C] each client's share of these.
std::vector<double> event_shares(Session& session);

}  // namespace fedpp::federation
