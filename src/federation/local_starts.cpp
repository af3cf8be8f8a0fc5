#include "federation/local_starts.hpp"

#include "bayesian_optimisation/optimiser.hpp"
#include "federation/scoring.hpp"
#include "gpu/draw_purpose.hpp"
#include "model/batch_memory.hpp"
#include "model/frozen_prediction.hpp"
#include "model/mixing.hpp"

namespace fedpp::federation {

namespace {

constexpr double kLeastLambda = 0.6;
constexpr int kEvaluations = 20;  // 5 initial points, 15 iterations
constexpr int kSamples = 1;       // of the weights: the draw is the same for every lambda

double uniform(std::uint64_t seed, std::int64_t client, std::int64_t round, int step) {
  const auto random = gpu::random_bits(seed, gpu::DrawPurpose::kStarts, static_cast<std::uint32_t>(client),
                                       static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(step));
  return gpu::Philox::uniform(gpu::Philox::bits64(random, 0));
}

/// Lambdas of some clients, in step.
std::vector<double> optimise(const Session& session, const std::vector<model::ClientPoints>& points,
                             const model::Priors& priors, std::int64_t round) {
  const model::FrozenPrediction prediction(points, prediction_options(session.config(), kSamples, 0));
  std::vector<bayesian_optimisation::Optimiser> optimisers(points.size(),
                                                           bayesian_optimisation::Optimiser(kLeastLambda, 1.0));
  for (int step = 0; step < kEvaluations; ++step) {
    std::vector<model::WeightPosterior> mixed;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const auto& client = *points[k].client;
      const double lambda = optimisers[k].propose(uniform(session.seed(), client.id, round, step));
      mixed.push_back(model::between(priors.of(client.id), client.state.weights, lambda));
    }
    const auto predictions = prediction.under(mixed);
    for (std::size_t k = 0; k < points.size(); ++k) {
      evaluation::Score score;
      for (std::size_t i = 0; i < points[k].realisations->size(); ++i)
        score += score_of_expectations((*points[k].realisations)[i], predictions[k][i]);
      optimisers[k].observe(score.headline);
    }
  }
  std::vector<double> lambdas;
  for (const auto& optimiser : optimisers) lambdas.push_back(optimiser.best());
  return lambdas;
}

}  // namespace

std::map<std::int64_t, double> move_to_starts(Session& session, ValidationWindows& windows,
                                              const std::vector<model::Client*>& participants,
                                              const model::Priors& priors, std::int64_t round) {
  const auto& config = session.config();
  const bool optimised = config.federation.client_start == config::ClientStart::kOptimised;
  std::map<std::int64_t, double> lambdas;
  if (!optimised && config.federation.client_start != config::ClientStart::kMix) return lambdas;
  for (const auto* client : participants)
    if (client->state.started) lambdas[client->id] = optimised ? 1.0 : config.federation.mix_lambda;
  if (optimised) {
    std::vector<model::ClientPoints> points;
    for (const auto& [id, lambda] : lambdas) {
      const auto& half = windows.of(session.owned(id), data::ValidationHalf::kStarts);
      double events = 0;
      for (const auto& r : half) events += static_cast<double>(r.events.size());
      if (events > 0) points.push_back({&session.owned(id).model, &half});
    }
    for (const auto& [first, last] : model::blocks_of(points, {.samples = kSamples}, config.backend.workspace_mb)) {
      const std::vector<model::ClientPoints> block(points.begin() + first, points.begin() + last);
      const auto chosen = optimise(session, block, priors, round);
      for (std::size_t k = 0; k < block.size(); ++k) lambdas[block[k].client->id] = chosen[k];
    }
  }
  for (auto* client : participants)
    if (const auto lambda = lambdas.find(client->id); lambda != lambdas.end())
      model::start_from(*client, model::between(priors.of(client->id), client->state.weights, lambda->second),
                        config.training.sd_map);
  return lambdas;
}

}  // namespace fedpp::federation
