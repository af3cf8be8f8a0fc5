// "fedavg": every round a participant starts at what it received and trains against the initial distribution, the
// regulariser that all methods share; the server averages; there is one model, which is scored.
#include "federation/strategies/fedavg.hpp"

#include "federation/strategies/strategies.hpp"
#include "model/mixing.hpp"

namespace fedpp::federation {

std::vector<model::LocalReport> epochs_from_received(const std::vector<model::Client*>& participants,
                                                     const LocalWork& work, const model::Priors& pull) {
  for (auto* client : participants)
    model::restart_from(*client, work.received.of(client->id), work.options.training.sd_map);
  return model::local_update(participants, pull, work.options, work.seed, work.round, {work.kept});
}

namespace {

class FedAvg final : public Strategy {
 public:
  std::vector<model::LocalReport> epochs(const std::vector<model::Client*>& participants,
                                         const LocalWork& work) const override {
    return epochs_from_received(participants, work, work.initial);
  }
  bool scores_received() const override { return true; }
};

}  // namespace

std::unique_ptr<const Strategy> fedavg_strategy() { return std::make_unique<FedAvg>(); }

}  // namespace fedpp::federation
