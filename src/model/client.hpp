// One client: its realisations and the state of its inference, in the memory of the rank that owns the client. Of it
// only the weights' mean and sd are uploaded; checkpoints hold the state (docs/trust.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "data/client_data.hpp"
#include "model/inputs.hpp"
#include "model/weight_posterior.hpp"

namespace fedpp::model {

/// A client's weights and how far their optimiser is. Scores and predictions read no other state: they fit the latent
/// functions anew.
struct WeightState {
  WeightPosterior weights;                                             ///< q_phi = N(r, diag(delta^2))
  std::vector<double> raw;                                             ///< delta = map(raw)
  std::vector<double> first_mean, second_mean, first_raw, second_raw;  ///< Adam's moments
  std::int64_t steps = 0;                                              ///< Adam's
  bool started = false;                                                ///< has taken part in a round
  std::vector<double> mixing;  ///< how it weighs models (federation.mode): fedala's W [P], apple's p [C]; empty: none
  WeightPosterior core;        ///< apple: its own model, which it sends; `weights` is the mixture then

  bool operator==(const WeightState&) const = default;
};

/// The posterior of a client's latent functions and of its rate, from which its next epochs go on.
struct LatentState {
  double rate = 1;               ///< m
  double offset = 0;             ///< nu
  std::vector<double> v_mean;    ///< mu_v of the realisations, one behind the other
  std::vector<double> v_factor;  ///< F of each, column-major [M x M], lower, Sigma_v = F'F
};

struct ClientState : WeightState, LatentState {
  WeightState& weight_state() { return *this; }
};

/// Inducing points z of one realisation.
struct InducingPoints {
  std::vector<double> times;                     ///< [M] model clock
  std::vector<data::HistoryPosition> histories;  ///< [M] with a history encoder: z is a (stream, time) pair
};

struct Client {
  std::int64_t id = 0;
  Embedding embedding;
  std::vector<data::Realisation> training;  ///< tempered
  std::vector<InducingPoints> inducing;     ///< of each realisation
  double least_events = 0.5;                ///< floor of m in events (half of one, tempered)
  ClientState state;
};

/// Inducing points (1.7): M equally spaced times of a realisation's window, ends included; with a history M (stream,
/// time) pairs equally spaced along its streams' windows laid end to end, each in the middle of its share.
InducingPoints inducing_points(const data::Realisation& training, std::int64_t inducing);

/// q(v) = N(0, I) of as many realisations, M inducing points each: where inference starts (1.6).
void start_latent(LatentState& state, std::size_t realisations, std::size_t inducing);

/// A client with its inference at the start: m = 2 N / sum omega, nu = 0, q(v) = N(0, I) (1.6).
Client make_client(std::int64_t id, const Embedding& embedding, std::vector<data::Realisation> training,
                   std::int64_t inducing, double tempering);

/// l at the start. Time alone: the embedding distance, root mean square over the window, that a step of
/// model.start_lengthscale x T in time makes under the encoder's weights (for rbf that step itself). History encoders:
/// 10 x model.start_lengthscale times the root mean square distance between the embeddings of a stream with log-normal
/// gaps, the same for all clients.
double start_lengthscale(const config::Model& model, const Embedding& embedding, const std::vector<double>& weights);

/// The global distribution before the first round: mean from the seed, common to all clients; sd = prior_sd in units of
/// the encoder's start (gpu::EncoderFamily::start); slopes of a linear prior mean: 0 and mean_sd / sqrt(D).
WeightPosterior initial_prior(const config::Model& model, const Embedding& embedding, std::uint64_t seed);

}  // namespace fedpp::model
