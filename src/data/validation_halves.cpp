#include "data/validation_halves.hpp"

#include <utility>

#include "data/random.hpp"

namespace fedpp::data {

ClientData with_validation_half(const ClientData& client, ValidationHalf half, std::uint64_t seed) {
  ClientData result = client;
  Random coin(seed, Purpose::kValidationHalves, client.id);
  for (auto& sequence : result.sequences) {
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
  return result;
}

}  // namespace fedpp::data
