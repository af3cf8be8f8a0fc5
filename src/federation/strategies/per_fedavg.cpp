// "per-fedavg": Fallah, Mokhtari, Ozdaglar, "Personalized federated learning with theoretical guarantees: a
// model-agnostic meta-learning approach" (NeurIPS 2020), whose objective is the mean of f_i(w - a grad f_i(w)): its
// first-order form with a going to zero in training, which is FedAvg followed by fine-tuning: every client is scored
// with the posterior that its last local epochs from what it received left it with.
#include "federation/strategies/fedavg.hpp"
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class PerFedAvg final : public Strategy {
 public:
  std::vector<model::LocalReport> epochs(const std::vector<model::Client*>& participants,
                                         const LocalWork& work) const override {
    return epochs_from_received(participants, work, work.initial);
  }
};

}  // namespace

std::unique_ptr<const Strategy> per_fedavg_strategy() { return std::make_unique<PerFedAvg>(); }

}  // namespace fedpp::federation
