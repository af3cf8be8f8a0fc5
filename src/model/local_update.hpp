// Local epochs of the clients that take part (theory 1.6): E-steps in closed form, Adam on the weights' posterior, all
// of them batched over (client x realisation x sample), block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/local_options.hpp"
#include "model/local_report.hpp"
#include "model/priors.hpp"

namespace fedpp::model {

class KeptBlock;
struct ModelMixture;

/// What a local update may be given besides.
struct LocalAids {
  KeptBlock* kept = nullptr;  ///< of the rounds before, with the same options but for those of the optimiser
  const ModelMixture* mixture = nullptr;  ///< participants learn one
};

/// Whether a rank keeps its block from round to round: where its participants fit into one, and nothing else takes
/// arrays of its own between the rounds.
bool can_keep(std::size_t blocks, const config::Training& training);

/// Runs E epochs of each participant against its prior, epoch keys (seed, round). The clients' states are advanced in
/// place; a client's result does not depend on which others are in the batch. Order of reports: as the clients.
std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const LocalAids& aids = {});

}  // namespace fedpp::model
