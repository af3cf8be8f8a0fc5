#include "federation/uploads.hpp"

#include <algorithm>
#include <numeric>

namespace fedpp::federation {

std::vector<model::WeightPosterior> last_uploads(Session& session, const KeptUploads& mine) {
  const std::size_t parameters = session.parameters();
  std::vector<double> numbers;
  for (const auto& client : session.owned()) {
    const auto upload = mine.find(client.data.id);
    const auto& posterior = upload == mine.end() ? session.initial_prior() : upload->second.posterior;
    numbers.insert(numbers.end(), posterior.mean.begin(), posterior.mean.end());
    numbers.insert(numbers.end(), posterior.sd.begin(), posterior.sd.end());
  }
  const auto all = session.share(numbers, 2 * parameters, "share uploads");
  std::vector<model::WeightPosterior> posteriors;
  for (auto from = all.begin(); from != all.end(); from += static_cast<std::ptrdiff_t>(2 * parameters)) {
    const auto middle = from + static_cast<std::ptrdiff_t>(parameters);
    posteriors.push_back({{from, middle}, {middle, middle + static_cast<std::ptrdiff_t>(parameters)}});
  }
  return posteriors;
}

double training_events(const OwnedClient& client) {
  double events = 0;
  for (const auto& s : client.data.sequences) events += static_cast<double>(s.events[data::kTrain].size());
  return std::max(events, 1.0);
}

std::vector<double> event_shares(Session& session) {
  std::vector<double> mine;
  for (const auto& client : session.owned()) mine.push_back(training_events(client));
  auto shares = session.share(mine, "share uploads");
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= all;
  return shares;
}

}  // namespace fedpp::federation
