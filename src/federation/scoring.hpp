// Scores of a federation's state on held-out windows (theory 1.8, 3.3): every client with its own q_phi, or with what
// it received where it never took part or the strategy scores that.
#pragma once

#include <vector>

#include "evaluation/calibration.hpp"
#include "evaluation/table.hpp"
#include "evaluation/trivial_models.hpp"
#include "federation/progress.hpp"
#include "federation/session.hpp"
#include "federation/validation_windows.hpp"
#include "model/prediction.hpp"

namespace fedpp::federation {

/// How predictions are made here: with any numbers of samples and E-steps; with those of the scores; with these and
/// bands; with those of validation, which only ranks rounds and starts.
model::PredictionOptions prediction_options(const config::Config& config, int samples, int e_steps);
model::PredictionOptions scoring_options(const config::Config& config);
model::PredictionOptions band_options(const config::Config& config);
model::PredictionOptions validation_options(const config::Config& config);

/// A client as a score of its `held_out` windows reads it: its weights' posterior, the training windows untempered (all
/// training lists where the test lists of 'population' are scored), and the latent posterior at the start of its
/// E-steps, because a tempered state (m low, nu high) is not left within a few of them. Its own state is not altered.
model::Client scoring_client(const Session& session, const OwnedClient& client, data::Split held_out);

/// A client as forecasts of the time after its sequences' ends read it: the same of all windows, training or held out.
/// Protocol 'chronological'.
model::Client forecasting_client(const Session& session, const OwnedClient& client);

/// One realisation's score by the protocol; "published-code" reads the prediction's moments.
evaluation::Score score_of(evaluation::Protocol protocol, const data::Realisation& held_out,
                           const model::RealisationPrediction& prediction);
/// By the expected intensity alone, as all protocols but that one have it.
evaluation::Score score_of_expectations(const data::Realisation& held_out,
                                        const model::RealisationPrediction& prediction);

/// A client's score on its validation windows that rank rounds, as the test score but by validation_options();
/// NaN where its predictions fail (model::PredictionError): one client's weights end nobody's run.
std::vector<evaluation::Score> validation_scores(Session& session, ValidationWindows& windows,
                                                 const std::vector<std::int64_t>& clients, const model::Priors& theta);

/// Of one client's rescaled increments.
struct Calibration {
  double ks = 0;          ///< Kolmogorov-Smirnov distance, NaN without increments or events
  double increments = 0;  ///< how many; a double, as all that ranks share
};

struct TestResult {
  std::vector<evaluation::Score> scores;  ///< [C] sums, on every rank; 0 where the predictions fail
  std::vector<std::int64_t> unscored;     ///< clients whose predictions fail
  std::vector<Calibration> calibration;   ///< [C]
  /// Rescaled increments x of the test events of all clients that are not hostile, as counts of u = 1 - exp(-x) in
  /// equal bins of [0, 1]: uniform under the truth. Only counts leave the ranks.
  std::vector<std::int64_t> uniforms;
};

inline constexpr int kCalibrationBins = 1000;

/// Collective. All clients on their test windows. \param what name of the pass in the progress
TestResult test_scores(Session& session, const model::Priors& theta, const std::string& what, Progress& progress);

/// One client's test windows under each trivial model.
std::vector<evaluation::TrivialScore> trivial_scores(const Session& session, const OwnedClient& client);

/// Collective. The trivial models on the same windows, names and per-client sums.
std::vector<evaluation::ModelScores> trivial_models(Session& session, Progress& progress);

/// One model's scores from per-client sums.
evaluation::ModelScores model_scores(const std::string& name, const TestResult& result);

}  // namespace fedpp::federation
