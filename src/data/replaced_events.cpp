#include "data/replaced_events.hpp"

#include <algorithm>
#include <utility>

#include "data/random.hpp"

namespace fedpp::data {

void replace_events(ClientData& client, double share, std::uint64_t seed) {
  Random random(seed, Purpose::kReplacedEvents, client.id);
  for (auto& sequence : client.sequences) {
    double length = 0;
    for (const auto& window : sequence.windows[kTrain]) length += window.end - window.start;
    const auto anywhere = [&] {
      double position = length * random.uniform();
      for (const auto& window : sequence.windows[kTrain]) {
        if (position < window.end - window.start) return window.start + position;
        position -= window.end - window.start;
      }
      return sequence.windows[kTrain].back().end;
    };
    auto& events = sequence.events[kTrain];
    std::size_t seen = 0;  // training events are among those seen, in order
    for (double& t : events) {
      while (seen < sequence.times.size() && sequence.times[seen] != t) ++seen;
      if (random.uniform() < share) {
        t = anywhere();
        if (seen < sequence.times.size()) sequence.times[seen] = t;
      }
      ++seen;
    }
    std::sort(events.begin(), events.end());
    std::vector<std::pair<double, int>> history;
    for (std::size_t j = 0; j < sequence.times.size(); ++j)
      history.emplace_back(sequence.times[j], j < sequence.history_types.size() ? sequence.history_types[j] : 0);
    std::stable_sort(history.begin(), history.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t j = 0; j < history.size(); ++j) {
      sequence.times[j] = history[j].first;
      if (j < sequence.history_types.size()) sequence.history_types[j] = history[j].second;
    }
  }
}

}  // namespace fedpp::data
