#include "data/tempering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fedpp::data {
namespace {

constexpr double kFloor = 0.02;

std::vector<const ClientSequence*> training_lists(const ClientData& client) {
  std::vector<const ClientSequence*> lists;
  for (const ClientSequence& sequence : client.sequences)
    if (!sequence.windows[kTrain].empty() || (sequence.fold >= 0 && !sequence.windows[kValidation].empty()))
      lists.push_back(&sequence);
  return lists;
}

}  // namespace

double dispersion(const ClientData& client, const Clock& clock, int bins) {
  const auto lists = training_lists(client);
  const double n = static_cast<double>(lists.size());
  if (n < 2) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sum(bins, 0.0), squares(bins, 0.0), counts(bins);
  for (const ClientSequence* list : lists) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (Split split : {kTrain, kValidation})
      for (double time : list->events[split]) {
        const double model = (time - (clock.elapsed ? list->origin : clock.origin)) * clock.scale;
        counts[std::clamp(static_cast<int>(model / clock.window * bins), 0, bins - 1)] += 1;
      }
    for (int b = 0; b < bins; ++b) {
      sum[b] += counts[b];
      squares[b] += counts[b] * counts[b];
    }
  }
  double variance = 0, mean = 0;
  for (int b = 0; b < bins; ++b) {
    mean += sum[b] / n;
    variance += (squares[b] - sum[b] * sum[b] / n) / (n - 1);
  }
  return mean > 0 ? variance / mean : std::numeric_limits<double>::quiet_NaN();
}

double tempering(const ClientData& client, const Clock& clock, const config::Model& model) {
  if (model.tempering == "fixed") return model.temperature;
  if (model.tempering != "dispersion") return 1.0;
  const double phi = dispersion(client, clock);
  if (std::isnan(phi)) return 1.0;
  return std::clamp(1.0 / phi, kFloor, 1.0);
}

}  // namespace fedpp::data
