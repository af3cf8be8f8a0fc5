#include "federation/scoring.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <deque>

#include "evaluation/trivial_models.hpp"
#include "federation/rescaled_increments.hpp"
#include "federation/stop_signal.hpp"
#include "gpu/runtime.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// A client as it predicts, and where.
struct Scored {
  model::Client client;
  const std::vector<data::Realisation>* held_out;
};

/// use(k, predictions of the realisations) for every client: all as one batch, or, where that fails, one by one (no
/// client's bits depend on the others in its batch); nullptr where a client's own fail.
template <class Use>
void predict_each(const std::vector<Scored>& clients, const model::Priors& theta,
                  const model::PredictionOptions& options, const Use& use) {
  std::vector<model::ClientPointSets> requests;
  for (const auto& c : clients) requests.push_back({&c.client, {c.held_out}});
  std::vector<std::vector<std::vector<model::RealisationPrediction>>> all;
  try {
    all = model::predict(requests, theta, options);
  } catch (const model::PredictionError&) {
    for (const auto& request : requests) {
      try {
        all.push_back(model::predict({request}, theta, options)[0]);
      } catch (const model::PredictionError&) {
        all.emplace_back();
      }
    }
  }
  for (std::size_t k = 0; k < clients.size(); ++k) use(k, all[k].empty() ? nullptr : &all[k][0]);
}

struct OwnScore {
  evaluation::Score score;
  double unscored = 0;  ///< 1: its predictions fail
};

/// What a rank knows of its clients' test windows, client after client.
struct OwnScores {
  std::vector<OwnScore> scores;
  std::vector<Calibration> calibration;
  std::vector<std::int64_t> uniforms = std::vector<std::int64_t>(kCalibrationBins);  ///< TestResult's, of these clients
};

evaluation::WindowEnds window_ends(const config::Data& data) {
  const bool by_events = data.protocol == config::Protocol::kChronological && data.split_at != config::SplitAt::kTime;
  return by_events ? evaluation::WindowEnds::kByEvents : evaluation::WindowEnds::kByTime;
}

/// Appends the scores of one client. \param prediction nullptr where it could not be predicted
void add_scores(OwnScores& own, const Session& session, const Scored& client,
                const std::vector<model::RealisationPrediction>* prediction) {
  if (prediction == nullptr) {
    own.scores.push_back({{}, 1});
    own.calibration.push_back({std::nan(""), 0});
    return;
  }
  evaluation::Score score;
  data::Random random(session.seed(), data::Purpose::kDeRounding, client.client.id);
  evaluation::RescaledIncrements increments(random, window_ends(session.config().data));
  for (std::size_t i = 0; i < client.held_out->size(); ++i) {
    const auto& held_out = (*client.held_out)[i];
    score += score_of(session.protocol(), held_out, (*prediction)[i]);
    add_increments(held_out, (*prediction)[i], increments);
  }
  increments.finish();
  own.scores.push_back({score, 0});
  const double distance = score.events > 0 ? evaluation::ks_distance_from_exponential(increments.all()) : std::nan("");
  own.calibration.push_back({distance, static_cast<double>(increments.all().size())});
  if (session.hostile(client.client.id)) return;
  for (const double x : increments.all())
    ++own.uniforms[std::min(static_cast<int>(-std::expm1(-x) * kCalibrationBins), kCalibrationBins - 1)];
}

/// This rank's clients, in blocks of as many as the work space has room for, at least one.
OwnScores score_own_clients(Session& session, const model::Priors& theta, Progress& progress) {
  const auto options = scoring_options(session.config());
  const double room = gpu::workspace_mb(options.workspace_mb);
  OwnScores own;
  std::vector<Scored> block;
  std::deque<std::vector<data::Realisation>> windows;  // theirs
  double used = 0;
  const auto score_block = [&] {
    if (block.empty()) return;
    stop_if_asked();
    predict_each(block, theta, options, [&](std::size_t k, const std::vector<model::RealisationPrediction>* p) {
      add_scores(own, session, block[k], p);
    });
    progress.step(block.size());
    block.clear();
    windows.clear();
    used = 0;
  };
  for (auto& client : session.owned()) {
    auto scored = scoring_client(session, client, data::kTest);
    auto held_out = data::held_out_realisations(client.data, session.rules(), data::kTest);
    const double mb = 1e-6 * model::prediction_bytes({&scored, {&held_out}}, options);
    if (used + mb > room) score_block();
    windows.push_back(std::move(held_out));
    block.push_back({std::move(scored), &windows.back()});
    used += mb;
  }
  score_block();
  return own;
}

}  // namespace

evaluation::Score score_of(evaluation::Protocol protocol, const data::Realisation& held_out,
                           const model::RealisationPrediction& p) {
  const std::size_t n = held_out.events.size(), points = n + held_out.nodes.size();
  if (protocol == evaluation::Protocol::kPublishedCode) {
    assert(p.mean.size() >= points);  // PredictionOptions::moments
    // m sigma of the posterior mean, averaged over the samples of w.
    std::vector<double> plug_in(points);
    const std::size_t samples = points ? p.mean.size() / points : 1;
    for (std::size_t j = 0; j < points; ++j) {
      double mean = 0;
      for (std::size_t s = 0; s < samples; ++s) mean += p.mean[s * points + j] / static_cast<double>(samples);
      plug_in[j] = p.rate / (1 + std::exp(-mean));
    }
    return evaluation::published_code_score(held_out, {plug_in.data(), n}, {plug_in.data() + n, points - n});
  }
  return score_of_expectations(held_out, p);
}

evaluation::Score score_of_expectations(const data::Realisation& held_out, const model::RealisationPrediction& p) {
  const std::size_t n = held_out.events.size(), points = n + held_out.nodes.size();
  std::vector<double> log_expected(n);
  for (std::size_t i = 0; i < n; ++i) log_expected[i] = std::log(p.expected_intensity[i]);
  return evaluation::score(
      held_out, {{p.expected_log_intensity.data(), n}, log_expected, {p.expected_intensity.data() + n, points - n}});
}

namespace {

/// The client with its weights, whose latent function is to be found from these events.
model::Client with_events(const Session& session, const OwnedClient& client,
                          std::vector<data::Realisation> realisations) {
  auto fitted = model::make_client(client.data.id, client.model.embedding, std::move(realisations),
                                   session.config().model.inducing, 1.0);
  fitted.state.weights = client.model.state.weights;
  // What is not started predicts with its prior's weights.
  fitted.state.started = client.model.state.started && !session.strategy().scores_received();
  return fitted;
}

}  // namespace

model::Client scoring_client(const Session& session, const OwnedClient& client, data::Split held_out) {
  static constexpr std::array<data::Split, 1> training{data::kTrain};
  const bool all_lists = held_out == data::kTest && session.protocol() == evaluation::Protocol::kPopulation;
  auto realisations = all_lists                      ? data::final_realisations(client.data, session.rules())
                      : client.data.tempering == 1.0 ? client.model.training
                                                     : data::make_realisations(client.data, session.rules(), training);
  return with_events(session, client, std::move(realisations));
}

model::Client forecasting_client(const Session& session, const OwnedClient& client) {
  static constexpr std::array<data::Split, 3> every{data::kTrain, data::kValidation, data::kTest};
  return with_events(session, client, data::make_realisations(client.data, session.rules(), every));
}

model::PredictionOptions prediction_options(const config::Config& config, int samples, int e_steps) {
  return {config.model.jitter, samples, e_steps, config.backend.workspace_mb,
          static_cast<std::uint64_t>(config.federation.seed)};
}

model::PredictionOptions scoring_options(const config::Config& config) {
  auto options = prediction_options(config, static_cast<int>(config.evaluation.samples),
                                    static_cast<int>(config.evaluation.e_steps));
  options.moments = config.data.protocol == config::Protocol::kPublishedCode;  // whose score is by the posterior mean
  return options;
}

model::PredictionOptions band_options(const config::Config& config) {
  auto options = scoring_options(config);
  options.bands = options.moments = true;
  return options;
}

model::PredictionOptions validation_options(const config::Config& config) {
  auto options = prediction_options(config, /*samples=*/2, /*e_steps=*/10);
  options.moments = scoring_options(config).moments;
  return options;
}

std::vector<evaluation::Score> validation_scores(Session& session, ValidationWindows& windows,
                                                 const std::vector<std::int64_t>& clients, const model::Priors& theta) {
  std::vector<Scored> scored;
  for (const auto c : clients) {
    const auto& client = session.owned(c);
    scored.push_back(
        {scoring_client(session, client, data::kValidation), &windows.of(client, data::ValidationHalf::kRounds)});
  }
  std::vector<evaluation::Score> scores(clients.size());
  predict_each(scored, theta, validation_options(session.config()),
               [&](std::size_t k, const std::vector<model::RealisationPrediction>* prediction) {
                 if (prediction == nullptr) scores[k] = {std::nan(""), std::nan(""), 0};
                 for (std::size_t i = 0; prediction != nullptr && i < prediction->size(); ++i)
                   scores[k] += score_of(session.protocol(), (*scored[k].held_out)[i], (*prediction)[i]);
               });
  return scores;
}

TestResult test_scores(Session& session, const model::Priors& theta, const std::string& what, Progress& progress) {
  progress.pass(what, session.owned().size());
  OwnScores own;
  mpi::together(session.world(), [&] { own = score_own_clients(session, theta, progress); });
  TestResult result;
  for (const auto& [score, unscored] : session.share(own.scores, "scores")) {
    if (unscored > 0) result.unscored.push_back(static_cast<std::int64_t>(result.scores.size()));
    result.scores.push_back(score);
  }
  result.calibration = session.share(own.calibration, "scores");
  result.uniforms = std::move(own.uniforms);
  session.world().allreduce(std::span<std::int64_t>(result.uniforms), mpi::Op::sum, "scores");
  return result;
}

std::vector<evaluation::TrivialScore> trivial_scores(const Session& session, const OwnedClient& client) {
  return evaluation::trivial_scores(client.data, data::kTest, {session.protocol(), session.plan().clock.elapsed});
}

std::vector<evaluation::ModelScores> trivial_models(Session& session, Progress& progress) {
  const auto names = evaluation::trivial_model_names(session.protocol());
  std::vector<double> sums;
  progress.pass("scores of trivial models", session.owned().size());
  mpi::together(session.world(), [&] {
    for (const auto& client : session.owned()) {
      stop_if_asked();
      for (const auto& trivial : trivial_scores(session, client))
        sums.insert(sums.end(), {trivial.score.headline, trivial.score.plug_in, trivial.score.events});
      progress.step();
    }
  });
  const auto all = session.share(sums, 3 * names.size(), "scores");
  std::vector<evaluation::ModelScores> models;
  for (std::size_t k = 0; k < names.size(); ++k) {
    models.push_back({names[k], {}});
    for (std::int64_t c = 0; c < session.clients(); ++c) {
      const double* at = all.data() + 3 * (static_cast<std::size_t>(c) * names.size() + k);
      models.back().clients.push_back({c, {at[0], at[1], at[2]}});
    }
  }
  return models;
}

evaluation::ModelScores model_scores(const std::string& name, const TestResult& result) {
  evaluation::ModelScores scores{name, {}};
  for (std::size_t c = 0; c < result.scores.size(); ++c)
    scores.clients.push_back({static_cast<std::int64_t>(c), result.scores[c]});
  return scores;
}

}  // namespace fedpp::federation
