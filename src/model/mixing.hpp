// Between the prior that a client received and its own posterior of the weights (theory 2.5).
#pragma once

#include "config/words.hpp"
#include "gpu/adam_options.hpp"
#include "model/client.hpp"

namespace fedpp::model {

/// r~ = lambda r + (1 - lambda) mu, delta~ = lambda delta + (1 - lambda) sigma: the geodesic of the Wasserstein-2
/// distance, from the prior (lambda = 0) to the client's own (1).
WeightPosterior between(const WeightPosterior& prior, const WeightPosterior& own, double lambda);

/// Of training.sd_map.
gpu::SdMap sd_map_of(config::SdMap map);

/// Local epochs of the client go on from `weights`; Adam keeps its moments. \param sd_map training.sd_map
void start_from(Client& client, WeightPosterior weights, config::SdMap sd_map);

/// The same with Adam's state as at first participation.
void restart_from(Client& client, const WeightPosterior& weights, config::SdMap sd_map);

/// Forgets the mixtures of models that a federation.mode has learned, which mean nothing to another: the client goes on
/// from its weights, with Adam's state as at first participation where it was that of a model in the mixture.
void forget_mixtures(WeightState& state, config::SdMap sd_map);

}  // namespace fedpp::model
