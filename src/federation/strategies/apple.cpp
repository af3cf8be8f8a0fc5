// "apple": Luo, Wu, "Adapt to adaptation: learning personalization for cross-silo federated learning" (IJCAI 2022), its
// directed relationships and Algorithm 1. Every client has a core model w_j, which it sends and which all download; its
// personal model, which is scored, is
//   sum_j p_ij w_j
// and in each local step the own core goes along p_ii d loss, and p_ij along <d loss, w_j> + lambda(r) mu (p_ij -
// p_0j), p_0j being client j's share of all training events, where p starts, and lambda(r) the paper's cosine from 1 to
// 0 over the first tenth of the rounds. p_i stays with its client. Here r and delta are mixed alike and p_i is kept >=
// 0 with sum 1 (theirs is free): so an sd stays one, the mixture is a Wasserstein-2 barycentre, and p_i cannot shrink
// log r, log l and all other weights together. The loss is the objective that all strategies share, per training event:
// that of the personal model, with its divergence to the initial distribution. A client that has sent nothing yet
// counts with the initial distribution, where all cores start.
#include <cmath>
#include <numbers>

#include "federation/strategies/strategies.hpp"
#include "model/mixing.hpp"
#include "model/model_mixture.hpp"

namespace fedpp::federation {

namespace {

class Apple final : public Strategy {
 public:
  Apple(double penalty, double rate, std::int64_t rounds) : penalty_(penalty), rate_(rate), rounds_(rounds) {}

  LocalOutcome train(const std::vector<model::Client*>& participants, const LocalWork& work) const override {
    for (auto* client : participants) {
      auto& state = client->state;
      const bool learned = state.mixing.size() == work.sent.size() && !state.core.mean.empty();
      if (state.started && learned) continue;
      model::restart_from(*client, work.initial, work.options.training.sd_map);
      state.core = work.initial;
      state.mixing = work.event_shares;
    }
    const model::ModelMixture mixture{work.sent, work.event_shares, rate_, penalty_ * schedule(work.round)};
    LocalOutcome outcome{
        model::local_update(participants, work.initial, work.options, work.seed, work.round, {work.kept, &mixture}),
        {}};
    for (std::size_t k = 0; k < participants.size(); ++k)
      if (!outcome.reports[k].failure) outcome.uploads[participants[k]->id] = participants[k]->state.core;
    return outcome;
  }

  bool downloads_uploads() const override { return true; }

 private:
  /// lambda(r).
  double schedule(std::int64_t round) const {
    const double share = 10.0 * static_cast<double>(round) / static_cast<double>(rounds_);
    return share < 1 ? 0.5 * (1 + std::cos(std::numbers::pi * share)) : 0.0;
  }

  double penalty_, rate_;
  std::int64_t rounds_;
};

}  // namespace

std::unique_ptr<const Strategy> apple_strategy(double penalty, double rate, std::int64_t rounds) {
  return std::make_unique<Apple>(penalty, rate, rounds);
}

}  // namespace fedpp::federation
