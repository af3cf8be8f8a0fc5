#include "model/updated_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fedpp::model {

UpdatedStates::UpdatedStates(const ClientBatch& block, const gpu::AdamState& adam, const gpu::Alignment* alignment)
    : block_(block), alignment_(block.batch().clients, 0.0) {
  const auto& f = block.fields();
  gpu::to_host(f.mean, mean_);
  gpu::to_host(f.sd, sd_);
  gpu::to_host(adam.raw, raw_);
  gpu::to_host(adam.first_mean, first_mean_);
  gpu::to_host(adam.second_mean, second_mean_);
  gpu::to_host(adam.first_raw, first_raw_);
  gpu::to_host(adam.second_raw, second_raw_);
  gpu::to_host(adam.steps, steps_);
  gpu::to_host(f.elbo, elbo_);
  gpu::to_host(adam.divergence, divergence_);
  if (alignment) gpu::to_host(alignment->value, alignment_);
  gpu::to_host(f.jitter, jitter_);
  gpu::to_host(f.info, info_);
  gpu::to_host(f.pivot, pivot_);
  latent_ = block.read_latent();
}

void UpdatedStates::add_factorisations(int k, LocalReport& report) const {
  const int samples = block_.samples(), begin = block_.realisation_begin(k);
  for (int i = begin; i < block_.realisation_begin(k + 1); ++i)
    for (int s = 0; s < samples; ++s) {
      const std::size_t problem = static_cast<std::size_t>(i) * samples + s;
      report.jitter = std::max(report.jitter, jitter_[problem]);
      if (info_[problem] != 0 && !report.failure)
        report.failure = fmt::format(
            "realisation {}, sample {}: the Cholesky factorisation of K(z,z) fails at pivot {} ({:.3g}) even with a "
            "relative jitter of {:g}",
            i - begin, s, info_[problem] - 1, pivot_[problem], jitter_[problem]);
    }
}

std::string UpdatedStates::unusable(int k, const Client& client, const LocalReport& report) const {
  if (!(std::abs(report.elbo) < kMostNats)) return fmt::format("the ELBO is {} after the round's epochs", report.elbo);
  if (!(std::abs(report.alignment) < kMostNats))
    return fmt::format("the alignment is {} after the round's epochs", report.alignment);
  // The last step of Adam comes after the last ELBO.
  const auto from = block_.posterior_offset(k);
  for (gpu::Index j = from; j < from + client.embedding.encoder.parameters(); ++j)
    if (!std::isfinite(mean_[j]) || !std::isfinite(sd_[j]) || !(sd_[j] > 0))
      return fmt::format("the posterior of weight {} is N({}, {}^2) after the round's epochs", j - from, mean_[j],
                         sd_[j]);
  return "";
}

LocalReport UpdatedStates::report(int k, const Client& client) const {
  LocalReport report{client.id, elbo_[k] - divergence_[k], divergence_[k], alignment_[k], 0, std::nullopt};
  add_factorisations(k, report);
  if (report.failure) return report;
  if (auto reason = unusable(k, client, report); !reason.empty()) report.failure = std::move(reason);
  return report;
}

void UpdatedStates::take(int k, Client& client) const {
  const auto own = [&](const std::vector<double>& all) {
    const auto begin = all.begin() + block_.posterior_offset(k);
    return std::vector<double>(begin, begin + client.embedding.encoder.parameters());
  };
  auto& state = client.state;
  state.weights = {own(mean_), own(sd_)};
  state.raw = own(raw_);
  state.first_mean = own(first_mean_);
  state.second_mean = own(second_mean_);
  state.first_raw = own(first_raw_);
  state.second_raw = own(second_raw_);
  state.steps = steps_[k];
  block_.take_latent(latent_, k, state);
}

}  // namespace fedpp::model
