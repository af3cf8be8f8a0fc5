#include "data/tempering.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/realisation.hpp"

namespace fedpp::data {
namespace {

constexpr double kFloor = 0.02;

/// Whether a sequence is learned from: a training window, or a fold of 'population' that validates for now.
bool is_training_list(const ClientSequence& sequence) {
  return !sequence.windows[kTrain].empty() || (sequence.fold >= 0 && !sequence.windows[kValidation].empty());
}

}  // namespace

double burst_size(const ClientData& client, const Clock& clock, int bins) {
  double sum = 0, squares = 0;
  std::vector<double> counts(bins);
  for (const ClientSequence& list : client.sequences) {
    if (!is_training_list(list)) continue;
    std::fill(counts.begin(), counts.end(), 0.0);
    auto count = [&](const std::vector<double>& times) {
      for (double time : times) {
        const double share = to_model(clock, list, time) / clock.window;
        counts[std::clamp(static_cast<int>(share * bins), 0, bins - 1)] += 1;
      }
    };
    count(list.events[kTrain]);
    if (list.fold >= 0) count(list.events[kValidation]);
    for (double n : counts) {
      sum += n;
      squares += n * n;
    }
  }
  return squares / sum;
}

double tempering(const ClientData& client, const Clock& clock, const config::Model& model) {
  if (model.tempering == config::Tempering::kFixed) return model.temperature;
  if (model.tempering != config::Tempering::kDispersion) return 1.0;
  const double burst = burst_size(client, clock);
  if (std::isnan(burst)) return 1.0;
  const auto lists =
      static_cast<double>(std::count_if(client.sequences.begin(), client.sequences.end(), is_training_list));
  return std::clamp((lists - 1) / (lists + 8) / std::sqrt(burst), kFloor, 1.0);
}

}  // namespace fedpp::data
