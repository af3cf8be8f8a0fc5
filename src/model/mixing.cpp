#include "model/mixing.hpp"

#include <cassert>
#include <utility>

#include "gpu/adam.hpp"

namespace fedpp::model {

WeightPosterior between(const WeightPosterior& prior, const WeightPosterior& own, double lambda) {
  assert(prior.mean.size() == own.mean.size());
  WeightPosterior mixed = own;
  for (std::size_t p = 0; p < own.mean.size(); ++p) {
    mixed.mean[p] = lambda * own.mean[p] + (1 - lambda) * prior.mean[p];
    mixed.sd[p] = lambda * own.sd[p] + (1 - lambda) * prior.sd[p];
  }
  return mixed;
}

gpu::SdMap sd_map_of(config::SdMap map) {
  return map == config::SdMap::kExp ? gpu::SdMap::kExp : gpu::SdMap::kSoftplus;
}

void start_from(Client& client, WeightPosterior weights, config::SdMap sd_map) {
  const auto map = sd_map_of(sd_map);
  auto& state = client.state;
  for (std::size_t p = 0; p < weights.sd.size(); ++p)
    if (weights.sd[p] != state.weights.sd[p])
      state.raw[p] = gpu::raw_of_sd(map, weights.sd[p]);  // else to the last bit
  state.weights = std::move(weights);
}

namespace {

void restart(WeightState& state, const WeightPosterior& weights, config::SdMap sd_map) {
  const auto map = sd_map_of(sd_map);
  const std::size_t p = weights.mean.size();
  state.weights = weights;
  state.raw.resize(p);
  for (std::size_t j = 0; j < p; ++j) state.raw[j] = gpu::raw_of_sd(map, weights.sd[j]);
  for (auto* moments : {&state.first_mean, &state.second_mean, &state.first_raw, &state.second_raw})
    moments->assign(p, 0.0);
  state.steps = 0;
  state.started = true;
}

}  // namespace

void restart_from(Client& client, const WeightPosterior& weights, config::SdMap sd_map) {
  restart(client.state, weights, sd_map);
}

void forget_mixtures(WeightState& state, config::SdMap sd_map) {
  state.mixing.clear();
  if (state.core.mean.empty()) return;
  restart(state, WeightPosterior(state.weights), sd_map);
  state.core = {};
}

}  // namespace fedpp::model
