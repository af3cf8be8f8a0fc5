// "fedala": Zhang, Hua, Wang, Song, Xue, Ma, Guan, "FedALA: adaptive local aggregation for personalized federated
// learning" (AAAI 2023), its elementwise aggregation and Algorithm 1. Before its epochs a participant with own weights
// w_i and received ones w starts at
//   w_i + (w - w_i) o W,   W in [0, 1]^P,   W <- clip(W - eta d loss / d start o (w - w_i))
// with W = 1 at first, kept from round to round: many steps where it learns W for the first time, one later. Here r and
// delta share an element of W, so that the start lies on the W2 geodesic of each weight. All weights have one (their
// "higher layers only" is for networks whose lower layers hardly differ), and the loss is over all training points
// (theirs: over a random 80 % of them).
#include <algorithm>
#include <cmath>

#include "federation/strategies/strategies.hpp"
#include "model/batch_memory.hpp"
#include "model/loss_gradient.hpp"
#include "model/mixing.hpp"

namespace fedpp::federation {

namespace {

constexpr int kMostSteps = 20;           // when W is learned for the first time
constexpr double kSettledChange = 0.01;  // largest change of an element of W in a step

model::WeightPosterior mixed(const model::WeightPosterior& own, const model::WeightPosterior& received,
                             const std::vector<double>& share) {
  auto result = own;
  for (std::size_t p = 0; p < share.size(); ++p) {
    result.mean[p] += (received.mean[p] - own.mean[p]) * share[p];
    result.sd[p] += (received.sd[p] - own.sd[p]) * share[p];
  }
  return result;
}

class FedAla final : public Strategy {
 public:
  explicit FedAla(double rate) : rate_(rate) {}

  std::vector<model::LocalReport> epochs(const std::vector<model::Client*>& participants,
                                         const LocalWork& work) const override {
    std::vector<model::Client*> started;
    for (auto* client : participants)
      if (client->state.started)
        started.push_back(client);
      else
        client->state.mixing.clear();
    const model::BatchOptions of_loss{.samples = static_cast<int>(work.options.training.samples),
                                      .with_gradient = true};
    for (const auto& [first, last] :
         model::blocks_of(model::training_points(started), of_loss, work.options.workspace_mb))
      learn({started.begin() + first, started.begin() + last}, work);
    for (auto* client : participants) {
      const auto& received = work.received.of(client->id);
      model::restart_from(
          *client, client->state.started ? mixed(client->state.weights, received, client->state.mixing) : received,
          work.options.training.sd_map);
    }
    return model::local_update(participants, work.initial, work.options, work.seed, work.round);
  }

  bool keeps_block() const override { return false; }  // its losses take arrays of their own between the rounds

 private:
  /// Steps on the clients' W, all of them in one batch.
  void learn(const std::vector<model::Client*>& clients, const LocalWork& work) const {
    model::LossGradient loss({clients.begin(), clients.end()}, work.options);
    std::vector<int> steps_left;
    for (auto* client : clients) {
      auto& mixing = client->state.mixing;
      const std::size_t weights = client->state.weights.mean.size();
      const bool learned = mixing.size() == weights;  // else none, or what another strategy learned
      steps_left.push_back(learned ? 1 : kMostSteps);
      if (!learned) mixing.assign(weights, 1.0);
    }
    while (std::any_of(steps_left.begin(), steps_left.end(), [](int steps) { return steps > 0; })) {
      std::vector<model::WeightPosterior> starts;
      for (const auto* client : clients)
        starts.push_back(mixed(client->state.weights, work.received.of(client->id), client->state.mixing));
      const auto losses = loss.at(starts, work.seed, work.round);
      for (std::size_t k = 0; k < clients.size(); ++k)
        if (steps_left[k] > 0)
          steps_left[k] = step(clients[k]->state, work.received.of(clients[k]->id), losses[k]) > kSettledChange
                              ? steps_left[k] - 1
                              : 0;
    }
  }

  /// One step on W. Returns the largest change of an element; 0 where there is no loss to learn from.
  double step(model::WeightState& state, const model::WeightPosterior& received, const model::Loss& loss) const {
    if (!std::isfinite(loss.value)) return 0;
    double largest = 0;
    for (std::size_t p = 0; p < state.mixing.size(); ++p) {
      const double slope = loss.by_mean[p] * (received.mean[p] - state.weights.mean[p]) +
                           loss.by_sd[p] * (received.sd[p] - state.weights.sd[p]);
      if (!std::isfinite(slope)) continue;
      const double next = std::clamp(state.mixing[p] - rate_ * slope, 0.0, 1.0);
      largest = std::max(largest, std::fabs(next - state.mixing[p]));
      state.mixing[p] = next;
    }
    return largest;
  }

  double rate_;
};

}  // namespace

std::unique_ptr<const Strategy> fedala_strategy(double rate) { return std::make_unique<FedAla>(rate); }

}  // namespace fedpp::federation
