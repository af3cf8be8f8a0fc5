#include "model/prediction.hpp"

#include <algorithm>
#include <span>

#include "gpu/averages.hpp"
#include "gpu/runtime.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/point_slices.hpp"

namespace fedpp::model {

namespace {

/// Doubles of a client's averages over the samples of the weights.
gpu::Index average_doubles(const Client& client) {
  gpu::Index doubles = 0;
  for (const auto& extent : extents_of({&client, &client.training})) doubles += gpu::average_doubles(extent);
  return doubles;
}

}  // namespace

double prediction_bytes(const ClientPointSets& request, const PredictionOptions& options) {
  double most = 0;
  for (const auto* points : request.points) most = std::max(most, sliced_bytes({request.client, points}, options));
  double averages = 0;
  if (on_averages(*request.client, options))
    averages = static_cast<double>(average_doubles(*request.client) * sizeof(double));
  const ClientPoints training{request.client, &request.client->training};
  const double trained = array_bytes({&training, 1}, {.samples = options.samples});
  // On a host the averages are gone when the points come; a device may keep both (gpu::Reserve).
  return trained + (gpu::on_host() ? std::max(most, averages) : most + averages);
}

std::vector<std::vector<std::vector<RealisationPrediction>>> predict(const std::vector<ClientPointSets>& requests,
                                                                     const Priors& priors,
                                                                     const PredictionOptions& options) {
  const gpu::Region region("fedpp::predict");
  std::vector<std::vector<std::vector<RealisationPrediction>>> result(requests.size());
  const auto predict_block = [&](std::span<const int> of, bool averaged) {
    std::vector<const Client*> clients;
    for (const int k : of) clients.push_back(requests[k].client);
    const LatentPosterior posterior(std::move(clients), priors, options, averaged);
    for (std::size_t set = 0; set < requests[of.front()].points.size(); ++set) {
      std::vector<const std::vector<data::Realisation>*> points;
      for (const int k : of) points.push_back(requests[k].points[set]);
      auto read = posterior.at(points);
      for (std::size_t j = 0; j < of.size(); ++j) result[of[j]].push_back(std::move(read[j]));
    }
  };
  std::vector<int> chosen[2];
  for (std::size_t k = 0; k < requests.size(); ++k)
    chosen[on_averages(*requests[k].client, options)].push_back(static_cast<int>(k));
  for (const bool averaged : {false, true}) {
    const auto& of = chosen[averaged];
    std::vector<double> bytes;
    for (const int k : of) bytes.push_back(prediction_bytes(requests[k], options));
    double room = gpu::workspace_mb(options.workspace_mb);
    if (averaged && gpu::on_host()) room = std::min(room, gpu::workspace_mb(0));  // steps stay in a cache
    for (const auto& [first, last] : blocks_of(bytes, room))
      predict_block(std::span(of).subspan(first, last - first), averaged);
  }
  return result;
}

}  // namespace fedpp::model
