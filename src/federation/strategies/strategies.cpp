#include "federation/strategies/strategies.hpp"

#include <cassert>

namespace fedpp::federation {

std::unique_ptr<const Strategy> make_strategy(const config::Federation& federation) {
  using config::Mode;
  const auto rate = [&](double own) { return federation.mixing_rate > 0 ? federation.mixing_rate : own; };
  switch (federation.mode) {
    case Mode::kFederated:
      return federated_strategy();
    case Mode::kLocal:
      return local_strategy();
    case Mode::kFedavg:
      return fedavg_strategy();
    case Mode::kFedprox:
      return fedprox_strategy(federation.proximal);
    case Mode::kPerFedavg:
      return per_fedavg_strategy();
    case Mode::kDitto:
      return ditto_strategy(federation.proximal);
    case Mode::kFedala:
      return fedala_strategy(rate(1.0));
    case Mode::kApple:
      return apple_strategy(federation.proximal, rate(0.03), federation.rounds);
  }
  assert(false);
  return nullptr;
}

LocalOutcome Strategy::train(const std::vector<model::Client*>& participants, const LocalWork& work) const {
  LocalOutcome outcome{epochs(participants, work), {}};
  outcome.uploads = own_posteriors(participants, outcome.reports);
  return outcome;
}

std::vector<model::LocalReport> Strategy::epochs(const std::vector<model::Client*>& participants,
                                                 const LocalWork& work) const {
  return model::local_update(participants, work.received, work.options, work.seed, work.round, {work.kept});
}

Uploads own_posteriors(const std::vector<model::Client*>& participants,
                       const std::vector<model::LocalReport>& reports) {
  Uploads uploads;
  for (std::size_t k = 0; k < participants.size(); ++k)
    if (!reports[k].failure) uploads[participants[k]->id] = participants[k]->state.weights;
  return uploads;
}

}  // namespace fedpp::federation
