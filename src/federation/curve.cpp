#include "federation/curve.hpp"

#include <algorithm>
#include <array>

#include "federation/scoring.hpp"

namespace fedpp::federation {

namespace {

/// The times of the curve as nodes of the first realisation; the others ask for nothing.
std::vector<data::Realisation> curve_grid(const Session& session, const OwnedClient& client) {
  static constexpr std::array<data::Split, 3> every{data::kTrain, data::kValidation, data::kTest};
  auto whole = data::make_realisations(client.data, session.rules(), every, 1.0);
  std::vector<data::Realisation> grid(client.model.training.size());
  auto span = whole.front().span;
  for (std::size_t i = 0; i < grid.size(); ++i) grid[i].streams = std::move(whole[i].streams);
  const bool history = session.rules().history;
  auto& shown = grid.front();
  if (history) {  // of the first stream: from the start of its observation to its last event, or to the end of its windows
    const auto& stream = shown.streams.front();
    span = {stream.start, stream.times.empty() ? stream.start : stream.times.back()};
    const auto& sequence = client.data.sequences.front();
    for (const auto& windows : sequence.windows)
      if (!windows.empty())
        span.end = std::max(span.end, data::to_model(session.plan().clock, sequence, windows.back().end));
  }
  const auto n = static_cast<std::size_t>(session.config().evaluation.curve_points);
  for (std::size_t j = 0; j < n; ++j)
    shown.nodes.push_back(span.start + (span.end - span.start) * static_cast<double>(j) / static_cast<double>(n - 1));
  shown.node_weights.assign(n, 1.0);
  if (history)
    for (const double t : shown.nodes) shown.node_history.push_back(data::position(shown.streams, 0, t));
  return grid;
}

}  // namespace

Curve intensity_curve(const Session& session, const OwnedClient& client, const model::Priors& theta) {
  const auto& clock = session.plan().clock;
  const auto scored = scoring_client(session, client, data::kTest);
  const auto grid = curve_grid(session, client);
  const auto& nodes = grid.front().nodes;
  const std::size_t n = nodes.size();
  const auto prediction = model::predict({{&scored, {&grid}}}, theta, band_options(session.config()))[0][0][0];
  Curve curve;
  for (std::size_t j = 0; j < n; ++j) {
    curve.time.push_back(nodes[j] / clock.scale + (clock.elapsed ? 0.0 : clock.origin));
    curve.mean.push_back(prediction.expected_intensity[j] * clock.scale);
    curve.lower.push_back(model::intensity_quantile(prediction, j, n, 0.05) * clock.scale);
    curve.median.push_back(model::intensity_quantile(prediction, j, n, 0.5) * clock.scale);
    curve.upper.push_back(model::intensity_quantile(prediction, j, n, 0.95) * clock.scale);
  }
  return curve;
}

double curve_bytes(const Session& session, const OwnedClient& client) {
  const auto grid = curve_grid(session, client);
  return model::prediction_bytes({&client.model, {&grid}}, band_options(session.config()));
}

}  // namespace fedpp::federation
