#include "federation/strategies/strategies.hpp"

#include "config/error.hpp"

namespace fedpp::federation {

std::unique_ptr<const Strategy> make_strategy(const config::Federation& federation) {
  const auto& mode = federation.mode;
  const auto rate = [&](double own) { return federation.mixing_rate > 0 ? federation.mixing_rate : own; };
  if (mode == "federated") return bayesian_strategy();
  if (mode == "local") return local_strategy();
  if (mode == "fedavg") return fedavg_strategy();
  if (mode == "fedprox") return fedprox_strategy(federation.proximal);
  if (mode == "per-fedavg") return per_fedavg_strategy();
  if (mode == "ditto") return ditto_strategy(federation.proximal);
  if (mode == "fedala") return fedala_strategy(rate(1.0));
  if (mode == "apple") return apple_strategy(federation.proximal, rate(0.03), federation.rounds);
  throw UserError("federation.mode = '" + mode +
                  "': choose federated, local, fedavg, fedprox, per-fedavg, ditto, fedala or apple");
}

std::vector<model::LocalReport> Strategy::train(const std::vector<model::Client*>& participants, const LocalWork& work,
                                                Uploads& uploads) const {
  auto reports = epochs(participants, work);
  uploads = own_posteriors(participants, reports);
  return reports;
}

std::vector<model::LocalReport> Strategy::epochs(const std::vector<model::Client*>& participants,
                                                 const LocalWork& work) const {
  return model::local_update(participants, work.received, work.options, work.seed, work.round, nullptr, work.kept);
}

Uploads own_posteriors(const std::vector<model::Client*>& participants,
                       const std::vector<model::LocalReport>& reports) {
  Uploads uploads;
  for (std::size_t k = 0; k < participants.size(); ++k)
    if (!reports[k].failure) uploads[participants[k]->id] = participants[k]->state.weights;
  return uploads;
}

}  // namespace fedpp::federation
