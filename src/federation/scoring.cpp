#include "federation/scoring.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "evaluation/trivial_models.hpp"
#include "federation/strategies/strategy.hpp"
#include "gpu/runtime.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

/// Compensator between consecutive test events of each stream: with a history the quadrature breaks at events.
std::vector<double> increments_by_stream(const data::Realisation& held_out, const model::RealisationPrediction& p,
                                         data::Random& random) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  std::vector<double> all;
  std::size_t node = 0;
  for (std::size_t first = 0, last; first < n; first = last) {
    const int stream = held_out.event_history[first].stream;
    last = first;
    while (last < n && held_out.event_history[last].stream == stream) ++last;
    while (node < q && held_out.node_history[node].stream < stream) ++node;
    std::vector<double> cells(last - first + 1, 0.0);
    data::Interval span{held_out.events[first], held_out.events[last - 1]};
    std::size_t cell = 0;
    for (; node < q && held_out.node_history[node].stream == stream; ++node) {
      const double t = held_out.nodes[node];
      while (cell < last - first && t > held_out.events[first + cell]) ++cell;
      cells[cell] += held_out.node_weights[node] * p.expected_intensity[n + node];
      span = {std::min(span.start, t), std::max(span.end, t)};
    }
    const auto part =
        evaluation::rescaled_increments({std::span(held_out.events).subspan(first, last - first),
                                         std::span(held_out.multiplicities).subspan(first, last - first), cells, span},
                                        random);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Compensator between consecutive test events, from the cumulative sums of the held-out quadrature read between its
/// nodes by linear interpolation.
std::vector<double> increments_of(const data::Realisation& held_out, const model::RealisationPrediction& p,
                                  data::Random& random) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  if (!held_out.streams.empty()) return increments_by_stream(held_out, p, random);
  std::vector<double> at{held_out.span.start}, cumulative{0.0};
  double total = 0;
  for (std::size_t j = 0; j < q; ++j) {
    const double mass = held_out.node_weights[j] * p.expected_intensity[n + j];
    at.push_back(held_out.nodes[j]);
    cumulative.push_back(total + 0.5 * mass);
    total += mass;
  }
  at.push_back(held_out.span.end);
  cumulative.push_back(total);
  const auto compensator = [&](double t) {
    const auto upper = std::upper_bound(at.begin(), at.end(), t);
    const std::size_t k = std::clamp<std::size_t>(static_cast<std::size_t>(upper - at.begin()), 1, at.size() - 1);
    const double width = at[k] - at[k - 1];
    return cumulative[k - 1] + (width > 0 ? (t - at[k - 1]) / width : 0.0) * (cumulative[k] - cumulative[k - 1]);
  };
  std::vector<double> cells;
  double before = 0;
  for (const double t : held_out.events) {
    const double now = compensator(t);
    cells.push_back(std::max(now - before, 0.0));
    before = now;
  }
  cells.push_back(std::max(total - before, 0.0));
  return evaluation::rescaled_increments({held_out.events, held_out.multiplicities, cells, held_out.span}, random);
}

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
  std::vector<model::PredictionRequest> requests;
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

}  // namespace

evaluation::Score score_of(evaluation::Protocol protocol, const data::Realisation& held_out,
                           const model::RealisationPrediction& p) {
  const std::size_t n = held_out.events.size(), points = n + held_out.nodes.size();
  if (protocol == evaluation::Protocol::kPublishedCode) {
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
  std::vector<double> log_expected(n);
  for (std::size_t i = 0; i < n; ++i) log_expected[i] = std::log(p.expected_intensity[i]);
  return evaluation::score(
      held_out, {{p.expected_log_intensity.data(), n}, log_expected, {p.expected_intensity.data() + n, points - n}});
}

model::Client scoring_client(const Session& session, const OwnedClient& client, data::Split held_out) {
  static constexpr std::array<data::Split, 1> training{data::kTrain};
  const bool all_lists = held_out == data::kTest && session.protocol() == evaluation::Protocol::kPopulation;
  auto realisations = all_lists                      ? data::final_realisations(client.data, session.rules())
                      : client.data.tempering == 1.0 ? client.model.training
                                                     : data::make_realisations(client.data, session.rules(), training);
  auto scored = model::make_client(client.data.id, client.model.embedding, std::move(realisations),
                                   session.config().model.inducing, 1.0);
  scored.state.weights = client.model.state.weights;
  const bool received = make_strategy(session.config().federation)->scores_received();
  scored.state.started = client.model.state.started && !received;  // else it is scored with its prior's weights
  return scored;
}

model::PredictionOptions prediction_options(const config::Config& config, int samples, int e_steps) {
  return {config.model, samples, e_steps, config.backend.workspace_mb,
          static_cast<std::uint64_t>(config.federation.seed)};
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
  predict_each(scored, theta, prediction_options(session.config(), kValidationSamples, kValidationSteps),
               [&](std::size_t k, const std::vector<model::RealisationPrediction>* prediction) {
                 if (prediction == nullptr) scores[k] = {std::nan(""), std::nan(""), 0};
                 for (std::size_t i = 0; prediction != nullptr && i < prediction->size(); ++i)
                   scores[k] += score_of(session.protocol(), (*scored[k].held_out)[i], (*prediction)[i]);
               });
  return scores;
}

TestResult test_scores(Session& session, const model::Priors& theta, const std::string& what, Progress& progress) {
  std::vector<double> sums, calibration;
  TestResult result;
  result.uniforms.assign(kCalibrationBins, 0);
  const auto options = prediction_options(session.config(), static_cast<int>(session.config().evaluation.samples),
                                          static_cast<int>(session.config().evaluation.e_steps));
  const auto score_client = [&](std::int64_t id, const std::vector<data::Realisation>& held_out,
                                const std::vector<model::RealisationPrediction>* prediction) {
    if (prediction == nullptr) {
      sums.insert(sums.end(), {0, 0, 0, 1});
      calibration.insert(calibration.end(), {std::nan(""), 0});
      return;
    }
    evaluation::Score score;
    std::vector<double> increments;
    data::Random random(session.seed(), data::Purpose::kDeRounding, id);
    for (std::size_t i = 0; i < held_out.size(); ++i) {
      score += score_of(session.protocol(), held_out[i], (*prediction)[i]);
      if (held_out[i].events.empty()) continue;
      const auto part = increments_of(held_out[i], (*prediction)[i], random);
      increments.insert(increments.end(), part.begin(), part.end());
    }
    sums.insert(sums.end(), {score.headline, score.plug_in, score.events, 0});
    calibration.insert(calibration.end(),
                       {evaluation::ks_distance_from_exponential(increments), static_cast<double>(increments.size())});
    for (const double x : increments)
      ++result.uniforms[std::min(static_cast<int>(-std::expm1(-x) * kCalibrationBins), kCalibrationBins - 1)];
  };
  progress.pass(what, session.owned().size());
  mpi::together(session.world(), [&] {
    const double room = gpu::workspace_mb(options.workspace_mb);
    std::vector<Scored> block;                           // as many clients as the work space has room for, at least one
    std::deque<std::vector<data::Realisation>> windows;  // theirs
    double used = 0;
    const auto score_block = [&] {
      if (block.empty()) return;
      predict_each(block, theta, options, [&](std::size_t k, const std::vector<model::RealisationPrediction>* p) {
        score_client(block[k].client.id, *block[k].held_out, p);
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
  });
  const auto all = session.share(sums, 4, "scores");
  for (std::int64_t c = 0; c < session.clients(); ++c) {
    result.headline.push_back(all[4 * c]);
    result.plug_in.push_back(all[4 * c + 1]);
    result.events.push_back(all[4 * c + 2]);
    if (all[4 * c + 3] > 0) result.unscored.push_back(c);
  }
  const auto distances = session.share(calibration, 2, "scores");
  for (std::int64_t c = 0; c < session.clients(); ++c) {
    result.ks.push_back(distances[2 * c]);
    result.increments.push_back(static_cast<std::int64_t>(distances[2 * c + 1]));
  }
  session.world().allreduce(std::span<std::int64_t>(result.uniforms), mpi::Op::sum, "scores");
  return result;
}

std::vector<evaluation::ModelScores> trivial_models(Session& session, Progress& progress) {
  const auto names = evaluation::trivial_model_names(session.protocol());
  const evaluation::TrivialSettings settings{session.protocol(), session.plan().clock.elapsed};
  std::vector<double> sums;
  progress.pass("scores of trivial models", session.owned().size());
  mpi::together(session.world(), [&] {
    for (const auto& client : session.owned()) {
      for (const auto& trivial : evaluation::trivial_scores(client.data, data::kTest, settings))
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
  for (std::size_t c = 0; c < result.headline.size(); ++c)
    scores.clients.push_back({static_cast<std::int64_t>(c), {result.headline[c], result.plug_in[c], result.events[c]}});
  return scores;
}

}  // namespace fedpp::federation
