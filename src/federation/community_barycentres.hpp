// Each client's own prior: the barycentre of its community's uploads under its own weights (theory 2.4, item 5; 2.1).
#pragma once

#include <functional>
#include <map>

#include "federation/aggregator.hpp"
#include "federation/communities.hpp"

namespace fedpp::federation {

/// Which rank owns a client.
using Owner = std::function<int(std::int64_t)>;

/// Collective. `uploads`: this rank's, one for each of its clients in `communities`; `around`: a Gaussian that all
/// ranks know, near the uploads (the global theta). Returns the barycentres of this rank's clients. kl, w2 and fedavg
/// take one reduce-scatter of 2P sums of two words for every client, in blocks, after which only a client's owner has
/// its totals. mmd iterates: every client's sums are reduced to all ranks, client by client; so are those of clients
/// whose community is so far from `around` that its spread cancels.
std::map<std::int64_t, model::WeightPosterior> community_barycentres(mpi::Communicator& world, const Owner& owner,
                                                                     const Communities& communities,
                                                                     const KeptUploads& uploads, const Gaussian& around,
                                                                     const AggregatorOptions& options);

}  // namespace fedpp::federation
