// "fedprox": Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated optimization in heterogeneous networks" (MLSys
// 2020), equation (2): the loss plus mu/2 |w - w_t|^2, w_t what was received; here of the means, the loss being
// FedAvg's.
#include "federation/strategies/fedavg.hpp"
#include "federation/strategies/proximal.hpp"
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class FedProx final : public Strategy {
 public:
  explicit FedProx(double proximal) : proximal_(proximal) {}
  std::vector<model::LocalReport> epochs(const std::vector<model::Client*>& participants,
                                         const LocalWork& work) const override {
    return epochs_from_received(participants, work, pulled_to_received(work, participants, proximal_));
  }
  bool scores_received() const override { return true; }

 private:
  double proximal_;
};

}  // namespace

std::unique_ptr<const Strategy> fedprox_strategy(double proximal) { return std::make_unique<FedProx>(proximal); }

}  // namespace fedpp::federation
