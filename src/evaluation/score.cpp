#include "evaluation/score.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fedpp::evaluation {

Score& Score::operator+=(const Score& other) {
  headline += other.headline;
  plug_in += other.plug_in;
  events += other.events;
  return *this;
}

Score score(const data::Realisation& held_out, const Prediction& prediction) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  assert(prediction.expected_log_intensity.size() == n && prediction.log_expected_intensity.size() == n);
  assert(prediction.expected_intensity_nodes.size() == q);
  Score sum;
  for (std::size_t i = 0; i < n; ++i) {
    const double multiplicity = held_out.multiplicities[i], offset = held_out.log_offsets[i];
    sum.headline += multiplicity * (prediction.expected_log_intensity[i] + offset);
    sum.plug_in += multiplicity * (prediction.log_expected_intensity[i] + offset);
    sum.events += multiplicity;
  }
  double integral = 0;
  for (std::size_t j = 0; j < q; ++j) integral += held_out.node_weights[j] * prediction.expected_intensity_nodes[j];
  sum.headline -= integral;
  sum.plug_in -= integral;
  return sum;
}

Score published_code_score(const data::Realisation& held_out, std::span<const double> intensity_events,
                           std::span<const double> intensity_nodes) {
  const std::size_t n = held_out.events.size(), q = held_out.nodes.size();
  assert(intensity_events.size() == n && intensity_nodes.size() == q);
  Score sum;
  for (std::size_t i = 0; i < n; ++i) {
    sum.headline += held_out.multiplicities[i] * std::log1p(intensity_events[i] * std::exp(held_out.log_offsets[i]));
    sum.events += held_out.multiplicities[i];
  }
  double integral = 0;
  for (std::size_t j = 0; j < q; ++j) integral += held_out.node_weights[j] * intensity_nodes[j];
  sum.headline -= integral;
  sum.plug_in = sum.headline;
  return sum;
}

Score total(std::vector<ClientScore> clients) {
  std::sort(clients.begin(), clients.end(),
            [](const ClientScore& a, const ClientScore& b) { return a.client < b.client; });
  Score sum;
  for (const ClientScore& client : clients) sum += client.score;
  return sum;
}

}  // namespace fedpp::evaluation
