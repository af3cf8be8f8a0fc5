// Latent functions alone, fitted to weights that are there (theory 1.6): E-steps without a gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "model/local_options.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

/// E-steps alone under the weights that the clients have (their priors before their first round): q(v), m and nu, for
/// the clients' training data. A client whose factorisation fails keeps its latent state.
void fit_latent(const std::vector<Client*>& clients, const Priors& priors, const LocalOptions& options, int e_steps,
                std::uint64_t seed);

}  // namespace fedpp::model
