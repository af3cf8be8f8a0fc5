#include "model/optimiser_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fedpp::model {

void upload_optimiser(const std::vector<Client*>& clients, const Priors& priors, const config::Training& training,
                      const gpu::AdamState& device) {
  std::vector<double> prior_mean, prior_sd, centre, rate, raw, m1, m2, r1, r2;
  std::vector<std::int64_t> steps;
  const auto append = [](std::vector<double>& all, const std::vector<double>& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const Client* c : clients) {
    const int p = c->embedding.encoder.parameters;
    append(prior_mean, priors.of(c->id).mean);
    append(prior_sd, priors.of(c->id).sd);
    if (priors.proximal > 0) append(centre, priors.centres.at(c->id));
    append(rate, std::vector<double>(p - 2, training.learning_rate));
    append(rate, std::vector<double>(
                     2, training.learning_rate_kernel > 0 ? training.learning_rate_kernel : training.learning_rate));
    append(raw, c->state.raw);
    append(m1, c->state.first_mean);
    append(m2, c->state.second_mean);
    append(r1, c->state.first_raw);
    append(r2, c->state.second_raw);
    steps.push_back(c->state.steps);
  }
  gpu::copy_to(device.prior_mean, prior_mean);
  gpu::copy_to(device.prior_sd, prior_sd);
  if (priors.proximal > 0) gpu::copy_to(device.centre, centre);
  gpu::copy_to(device.learning_rate, rate);
  gpu::copy_to(device.raw, raw);
  gpu::copy_to(device.first_mean, m1);
  gpu::copy_to(device.second_mean, m2);
  gpu::copy_to(device.first_raw, r1);
  gpu::copy_to(device.second_raw, r2);
  gpu::copy_to(device.steps, steps);
}

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
  const auto first = static_cast<std::size_t>(block_.realisation_begin(k)) * block_.samples();
  const auto end = static_cast<std::size_t>(block_.realisation_begin(k + 1)) * block_.samples();
  for (auto problem = first; problem < end; ++problem) report.jitter = std::max(report.jitter, jitter_[problem]);
  if (const auto failed = block_.failed_factor(k, info_))
    report.failure = fmt::format(
        "realisation {}, sample {}: the Cholesky factorisation of K(z,z) fails at pivot {} ({:.3g}) even with a "
        "relative jitter of {:g}",
        failed->realisation, failed->sample, info_[failed->problem] - 1, pivot_[failed->problem],
        jitter_[failed->problem]);
}

std::string UpdatedStates::unusable(int k, const Client& client, const LocalReport& report) const {
  if (!(std::abs(report.elbo) < kMostNats)) return fmt::format("the ELBO is {} after the round's epochs", report.elbo);
  if (!(std::abs(report.alignment) < kMostNats))
    return fmt::format("the alignment is {} after the round's epochs", report.alignment);
  // The last step of Adam comes after the last ELBO.
  const auto from = block_.posterior_offset(k);
  for (gpu::Index j = from; j < from + client.embedding.encoder.parameters; ++j)
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
    return std::vector<double>(begin, begin + client.embedding.encoder.parameters);
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
