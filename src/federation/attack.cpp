#include "federation/attack.hpp"

#include "federation/participants.hpp"
#include "gpu/draw_purpose.hpp"

namespace fedpp::federation {

std::vector<std::int64_t> hostile_clients(const config::Config& config) {
  const auto count = config::hostile_count(config.data, config.attack);
  if (count == 0) return {};
  return draw_clients(config.data.clients, count, static_cast<std::uint64_t>(config.federation.seed),
                      gpu::DrawPurpose::kHostile, 0);
}

model::WeightPosterior tampered(const config::Config& config, const model::WeightPosterior& upload,
                                const model::WeightPosterior& theta, std::int64_t client, std::int64_t round) {
  const auto& attack = config.attack;
  if (attack.kind == config::AttackKind::kReplacedEvents) return upload;
  auto sent = upload;
  for (std::size_t p = 0; p < sent.mean.size(); ++p) {
    if (attack.kind == config::AttackKind::kNoise) {
      const auto random = gpu::random_bits(static_cast<std::uint64_t>(config.federation.seed),
                                           gpu::DrawPurpose::kTampered, static_cast<std::uint32_t>(p),
                                           static_cast<std::uint32_t>(client), static_cast<std::uint32_t>(round));
      sent.mean[p] += attack.strength * theta.sd[p] * gpu::Philox::normals(random).first;
    } else {
      const double factor = attack.kind == config::AttackKind::kScaled ? attack.strength : -attack.strength;
      sent.mean[p] = theta.mean[p] + factor * (upload.mean[p] - theta.mean[p]);
    }
  }
  return sent;
}

}  // namespace fedpp::federation
