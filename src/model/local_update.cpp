#include "model/local_update.hpp"

#include <iterator>
#include <utility>

#include "gpu/region.hpp"
#include "model/block_update.hpp"
#include "model/client_batch.hpp"

namespace fedpp::model {

bool can_keep(std::size_t blocks, const config::Training& training) { return blocks <= 1 && training.alignment == 0; }

std::vector<LocalReport> local_update(const std::vector<Client*>& participants, const Priors& priors,
                                      const LocalOptions& options, std::uint64_t seed, std::int64_t round,
                                      const LocalAids& aids) {
  const gpu::Region region("fedpp::local_update");
  const auto blocks = blocks_of(training_points(participants), batch_options(options), options.workspace_mb);
  const bool keeps = aids.kept != nullptr && can_keep(blocks.size(), options.training);
  if (aids.kept != nullptr && !keeps) aids.kept->drop();  // the blocks need the room
  std::vector<LocalReport> reports;
  for (const auto& [first, last] : blocks) {
    KeptBlock not_kept;
    BlockUpdate update({participants.begin() + first, participants.begin() + last}, priors, options, seed,
                       keeps ? *aids.kept : not_kept, aids.mixture);
    update.run_epochs(round);
    auto of_block = update.finish();
    std::move(of_block.begin(), of_block.end(), std::back_inserter(reports));
  }
  return reports;
}

}  // namespace fedpp::model
