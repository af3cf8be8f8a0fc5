// The clients' last uploads on all ranks, for strategies whose clients download them.
#pragma once

#include <vector>

#include "federation/communities.hpp"
#include "federation/session.hpp"

namespace fedpp::federation {

/// Collective. [C] by client, the same on every rank, from each rank's own clients' uploads; the initial distribution
/// for a client without one. One sum of 2P words for each client.
std::vector<model::WeightPosterior> last_uploads(Session& session, const KeptUploads& mine);

}  // namespace fedpp::federation
