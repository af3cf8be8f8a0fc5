#include "model/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/realisation.hpp"
#include "model/frozen_prediction.hpp"

namespace fedpp::model {

namespace {

/// sum n E[log lambda] - sum omega E[lambda].
double log_likelihood(const std::vector<data::Realisation>& realisations,
                      const std::vector<RealisationPrediction>& predictions) {
  double sum = 0;
  for (std::size_t i = 0; i < realisations.size(); ++i) {
    const auto& r = realisations[i];
    const std::size_t events = r.events.size();
    for (std::size_t j = 0; j < events; ++j) sum += r.multiplicities[j] * predictions[i].expected_log_intensity[j];
    for (std::size_t q = 0; q < r.nodes.size(); ++q)
      sum -= r.node_weights[q] * predictions[i].expected_intensity[events + q];
  }
  return sum;
}

}  // namespace

std::vector<int> event_types(const std::vector<data::Realisation>& realisations) {
  std::set<int> types;
  for (const auto& r : realisations)
    for (const auto& mark : r.marks) types.insert(mark.type);
  return {types.begin(), types.end()};
}

std::vector<double> alignment_strengths(const std::vector<ClientPoints>& training, const Priors& received,
                                        double jitter, const config::Training& options, std::uint64_t seed) {
  PredictionOptions prediction_options;
  prediction_options.jitter = jitter;
  prediction_options.samples = static_cast<int>(options.samples);
  prediction_options.seed = seed;
  const FrozenPrediction prediction(training, prediction_options);
  std::vector<WeightPosterior> theirs;
  for (const auto& points : training) theirs.push_back(received.of(points.client->id));
  const auto under_own = prediction.under(own_weights(training)), under_theirs = prediction.under(theirs);
  std::vector<double> strengths;
  for (std::size_t k = 0; k < training.size(); ++k) {
    const auto& realisations = *training[k].realisations;
    const double events = data::events_in(realisations);
    const double gain =  // L_local - L_received
        (log_likelihood(realisations, under_theirs[k]) - log_likelihood(realisations, under_own[k])) / events;
    const double strength = options.alignment * events * std::exp(std::min(gain, 0.0));
    strengths.push_back(std::isfinite(strength) ? strength : 0);
  }
  return strengths;
}

gpu::Alignment make_alignment(const ClientBatch& block, const std::vector<ClientPoints>& training,
                              const Priors& received, const std::vector<double>& strengths) {
  gpu::Marks marks;
  std::vector<int> types;
  std::vector<double> mean, sd;
  for (std::size_t k = 0; k < training.size(); ++k) {
    const auto& realisations = *training[k].realisations;
    const auto own_types = event_types(realisations);
    types.push_back(static_cast<int>(own_types.size()));
    const int first = block.realisation_begin(static_cast<int>(k));
    for (std::size_t r = 0; r < realisations.size(); ++r) {
      const auto& of_events = realisations[r].marks;  // in the order of the events
      for (const int point : block.points_at_columns(first + static_cast<int>(r))) {
        auto mark = std::lower_bound(of_events.begin(), of_events.end(), point,
                                     [](const data::EventMark& m, int event) { return m.event < event; });
        for (; mark != of_events.end() && mark->event == point; ++mark) {
          const auto own = std::lower_bound(own_types.begin(), own_types.end(), mark->type);
          marks.type.push_back(static_cast<int>(own - own_types.begin()));
          marks.count.push_back(mark->count);
        }
        marks.begin.push_back(static_cast<gpu::Index>(marks.type.size()));
      }
    }
    const auto& posterior = received.of(training[k].client->id);
    mean.insert(mean.end(), posterior.mean.begin(), posterior.mean.end());
    sd.insert(sd.end(), posterior.sd.begin(), posterior.sd.end());
  }
  return gpu::make_alignment(block.batch(), marks, types, mean, sd, strengths);
}

}  // namespace fedpp::model
