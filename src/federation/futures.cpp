#include "federation/futures.hpp"

#include <algorithm>
#include <cmath>

#include "model/draw_keys.hpp"

namespace fedpp::federation {

namespace {

/// Exp(1), the same for an event of a path wherever it is drawn.
double exponential(std::uint64_t seed, const FuturePath& path) {
  const auto key = model::key_of(seed, model::ClientDraws::kFutures, path.client);
  const auto sequence = static_cast<std::uint64_t>(path.sequence);
  const gpu::Philox::Counter counter{{static_cast<std::uint32_t>(path.drawn.size()), path.number,
                                      static_cast<std::uint32_t>(sequence),
                                      static_cast<std::uint32_t>(sequence >> 32)}};
  return -std::log(gpu::Philox::uniform(gpu::Philox::bits64(gpu::Philox::block(counter, key), 0)));
}

}  // namespace

void draw_futures(std::vector<FuturePath>& paths, std::uint64_t seed,
                  const std::function<std::vector<evaluation::NextEvent>(const std::vector<GapStart>&)>& after,
                  const std::function<void(double)>& told) {
  std::vector<FuturePath*> active;
  for (auto& path : paths)
    if (path.from < path.until) active.push_back(&path);
  const auto all = static_cast<double>(active.size());
  while (!active.empty()) {
    std::vector<GapStart> starts;
    for (const auto* path : active)
      starts.push_back({path->sequence, path->history.times.size(),
                        path->drawn.empty() ? path->from : path->drawn.back(), &path->history, path->number});
    const auto next = after(starts);
    std::vector<FuturePath*> left;
    double ahead = 0;
    for (std::size_t k = 0; k < active.size(); ++k) {
      auto& path = *active[k];
      const double time = starts[k].from + next[k].gap_at(exponential(seed, path));
      if (!(time <= path.until)) continue;
      path.cut = path.drawn.size() == kMostDrawn;
      if (path.cut) continue;
      path.drawn.push_back(time);
      path.history.times.push_back(time);
      path.history.types.push_back(0);  // unmarked; the encoder reads no types
      left.push_back(&path);
      ahead += std::min((path.until - time) / (path.until - path.from),
                        1 - static_cast<double>(path.drawn.size()) / kMostDrawn);
    }
    active = std::move(left);
    told(1 - ahead / all);
  }
}

}  // namespace fedpp::federation
