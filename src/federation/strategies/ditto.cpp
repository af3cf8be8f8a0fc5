// "ditto": Li, Hu, Beirami, Smith, "Ditto: fair and robust federated learning through personalization" (ICML 2021),
// its objective of two levels, h_i(v; w) = f_i(v) + lambda/2 |v - w|^2, and Algorithm 1: beside the shared model w,
// found by FedAvg, each client keeps a personal one v that minimises its loss + lambda/2 |v - w|^2 and is scored; only
// w's update is sent.
#include "federation/strategies/fedavg.hpp"
#include "federation/strategies/proximal.hpp"
#include "federation/strategies/strategies.hpp"
#include "model/mixing.hpp"

namespace fedpp::federation {

namespace {

class Ditto final : public Strategy {
 public:
  explicit Ditto(double proximal) : proximal_(proximal) {}
  LocalOutcome train(const std::vector<model::Client*>& participants, const LocalWork& work) const override {
    // 1. The shared model's epochs, in the client's place: its personal state comes back afterwards.
    std::vector<model::ClientState> personal;
    for (const auto* client : participants) personal.push_back(client->state);
    const auto shared = epochs_from_received(participants, work, work.initial);
    LocalOutcome outcome{{}, own_posteriors(participants, shared)};
    for (std::size_t k = 0; k < participants.size(); ++k) participants[k]->state = std::move(personal[k]);
    // 2. The personal model's epochs, drawn to what was received; at first participation it starts there. A client whose
    // shared model failed stays as it is.
    std::vector<model::Client*> going_on;
    for (std::size_t k = 0; k < participants.size(); ++k)
      if (!shared[k].failure) going_on.push_back(participants[k]);
    for (auto* client : going_on)
      if (!client->state.started)
        model::restart_from(*client, work.received.of(client->id), work.options.training.sd_map);
    auto own = model::local_update(going_on, pulled_to_received(work, going_on, proximal_), work.options, work.seed,
                                   work.round, {work.kept});
    outcome.reports = shared;
    auto next = own.begin();
    for (auto& report : outcome.reports)
      if (!report.failure) report = std::move(*next++);
    return outcome;
  }

 private:
  double proximal_;
};

}  // namespace

std::unique_ptr<const Strategy> ditto_strategy(double proximal) { return std::make_unique<Ditto>(proximal); }

}  // namespace fedpp::federation
