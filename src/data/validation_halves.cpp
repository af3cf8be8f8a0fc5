#include "data/validation_halves.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/random.hpp"

namespace fedpp::data {

namespace {

/// Of each of the sequence's windows the earlier or the later part, as the coin says.
void cut(ClientSequence& sequence, ValidationHalf half, Random& coin) {
  std::vector<Interval> windows;
  std::vector<double> events;
  std::size_t next = 0;  // events and windows are in order, and every event is in one
  const auto& all = sequence.events[kValidation];
  for (const auto& window : sequence.windows[kValidation]) {
    const double middle = window.start + 0.5 * (window.end - window.start);
    const bool earlier_ranks = coin.uniform() < 0.5;
    const bool earlier = earlier_ranks == (half == ValidationHalf::kRounds);
    const Interval kept = earlier ? Interval{window.start, middle} : Interval{middle, window.end};
    for (; next < all.size() && all[next] <= window.end; ++next)
      if ((all[next] <= middle) == earlier) events.push_back(all[next]);  // one in the middle is in the earlier part
    if (kept.start < kept.end) windows.push_back(kept);
  }
  sequence.windows[kValidation] = std::move(windows);
  sequence.events[kValidation] = std::move(events);
}

}  // namespace

ClientData with_validation_half(const ClientData& client, ValidationHalf half, std::uint64_t seed) {
  ClientData result = client;
  Random coin(seed, Purpose::kValidationHalves, client.id);
  std::vector<std::size_t> order;  // with windows to deal, those of most events first
  for (std::size_t s = 0; s < client.sequences.size(); ++s)
    if (!client.sequences[s].windows[kValidation].empty()) order.push_back(s);
  const auto events = [&](std::size_t k) { return client.sequences[order[k]].events[kValidation].size(); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return client.sequences[a].events[kValidation].size() > client.sequences[b].events[kValidation].size();
  });
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k + 1 == order.size() || 2 * events(k + 1) < events(k)) {
      cut(result.sequences[order[k]], half, coin);
      continue;
    }
    const bool first_ranks = coin.uniform() < 0.5;
    auto& other = result.sequences[order[first_ranks == (half == ValidationHalf::kRounds) ? k + 1 : k]];
    other.windows[kValidation].clear();
    other.events[kValidation].clear();
    ++k;
  }
  return result;
}

}  // namespace fedpp::data
