#include "federation/attack.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/philox.hpp"

namespace fedpp::federation {

namespace {

// Top four bits of the counter's last word; 6 is for starts (local_starts.cpp).
constexpr std::uint32_t kPurposeHostile = 7u << 28, kPurposeNoise = 8u << 28;

}  // namespace

std::vector<std::int64_t> hostile_clients(const config::Config& config) {
  if (config.attack.kind == "none") return {};
  std::vector<std::pair<std::uint64_t, std::int64_t>> tickets;
  for (std::int64_t c = 0; c < config.data.clients; ++c) {
    const auto random = gpu::Philox::block({{static_cast<std::uint32_t>(c), 0, 0, kPurposeHostile}},
                                           gpu::Philox::key(static_cast<std::uint64_t>(config.federation.seed)));
    tickets.emplace_back(gpu::Philox::bits64(random, 0), c);
  }
  std::sort(tickets.begin(), tickets.end());
  const auto count = std::llround(config.attack.share * static_cast<double>(config.data.clients));
  std::vector<std::int64_t> hostile;
  for (std::int64_t k = 0; k < count; ++k) hostile.push_back(tickets[k].second);
  std::sort(hostile.begin(), hostile.end());
  return hostile;
}

model::WeightPosterior tampered(const config::Config& config, const model::WeightPosterior& upload,
                                const model::WeightPosterior& theta, std::int64_t client, std::int64_t round) {
  const auto& attack = config.attack;
  if (attack.kind == "replaced-events") return upload;
  auto sent = upload;
  for (std::size_t p = 0; p < sent.mean.size(); ++p) {
    if (attack.kind == "noise") {
      const auto block = gpu::Philox::block({{static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(client),
                                              static_cast<std::uint32_t>(round), kPurposeNoise}},
                                            gpu::Philox::key(static_cast<std::uint64_t>(config.federation.seed)));
      sent.mean[p] += attack.strength * theta.sd[p] * gpu::Philox::normals(block).first;
    } else {
      const double factor = attack.kind == "scaled" ? attack.strength : -attack.strength;
      sent.mean[p] = theta.mean[p] + factor * (upload.mean[p] - theta.mean[p]);
    }
  }
  return sent;
}

}  // namespace fedpp::federation
