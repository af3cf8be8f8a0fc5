// What event-centric alignment (theory 2.5, gpu/alignment.hpp) needs to know of a block of clients: the types of their
// events, and how strongly each is drawn to the model that it received.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/alignment.hpp"
#include "model/client_batch.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

/// The types that marks name, ascending: a client's own numbers of them are the positions here.
std::vector<int> event_types(const std::vector<data::Realisation>& realisations);

/// Of each client: training.alignment N alpha, N the number of its (tempered) training events,
/// alpha = exp(min(L_local - L_received, 0)), L the negative mean log-likelihood of an event under the weights that its
/// epochs start from and under those received, both with the client's q(v), m and nu. 0 for a client without events,
/// and where the likelihood cannot be computed. One batch, without gradient.
std::vector<double> alignment_strengths(const std::vector<ClientPoints>& training, const Priors& received,
                                        double jitter, const config::Training& options, std::uint64_t seed);

/// For the epochs of a block that holds these clients' points; strengths as above.
gpu::Alignment make_alignment(const ClientBatch& block, const std::vector<ClientPoints>& training,
                              const Priors& received, const std::vector<double>& strengths);

}  // namespace fedpp::model
