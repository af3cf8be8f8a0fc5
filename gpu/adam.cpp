#include "gpu/adam.hpp"

#include "gpu/divergence.hpp"

namespace fedpp::gpu {

AdamState make_adam_state(const Batch& batch) {
  const auto n = static_cast<std::size_t>(batch.lengths.posterior);
  AdamState state;
  for (auto* a : {&state.prior_mean, &state.prior_sd, &state.learning_rate, &state.raw, &state.first_mean,
                  &state.second_mean, &state.first_raw, &state.second_raw})
    *a = Array<double>("adam", n);
  state.steps = Array<std::int64_t>("steps", batch.clients);
  state.divergence = Array<double>("divergence", batch.clients);
  return state;
}

namespace {

KOKKOS_INLINE_FUNCTION DivergenceTerm term(const AdamOptions& o, double r, double delta, double mu, double sigma) {
  switch (o.divergence) {
    case Divergence::kW2:
      return w2_divergence(r, delta, mu, sigma);
    case Divergence::kMmd:
      return mmd_divergence(r, delta, mu, sigma, o.bandwidth);
    default:
      return kl_divergence(r, delta, mu, sigma);
  }
}

}  // namespace

void prior_divergence(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o) {
  Kokkos::parallel_for(
      "fedpp::weights::divergence"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        const Index at = b.posterior(client);
        const double sum = team_sum(member, b.parameters(client), [&](Index j) {
          return term(o, f.mean(at + j), f.sd(at + j), a.prior_mean(at + j), a.prior_sd(at + j)).value;
        });
        if (member.team_rank() == 0) a.divergence(client) = o.prior_weight * sum;
      });
}

void adam_step(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o) {
  Kokkos::parallel_for(
      "fedpp::weights::adam"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        if (f.step_taken(client) == 0) return;
        const int p = b.parameters(client), samples = b.samples(client);
        const Index posterior = b.posterior(client), weights = b.weights(client);
        const double step = static_cast<double>(a.steps(client) + 1);
        // 1 - beta^t without loss of digits.
        const double correct1 = -std::expm1(step * math::log(o.beta1));
        const double correct2 = -std::expm1(step * math::log(o.beta2));
        member.team_barrier();
        const auto ascend = [&](double& value, double gradient, double& first, double& second, double rate) {
          first = o.beta1 * first + (1 - o.beta1) * gradient;
          second = o.beta2 * second + (1 - o.beta2) * gradient * gradient;
          value += rate * (first / correct1) / (math::sqrt(second / correct2) + o.epsilon);
        };
        team_for(member, p, [&](Index j) {
          const Index at = posterior + j;
          const double sd = f.sd(at);
          double by_mean = 0, by_sd = 0;
          for (int s = 0; s < samples; ++s) {
            const Index w = weights + static_cast<Index>(s) * p + j;
            by_mean += f.gradient(w);
            by_sd += f.gradient(w) * f.noise(w);
          }
          const DivergenceTerm prior = term(o, f.mean(at), sd, a.prior_mean(at), a.prior_sd(at));
          by_mean = by_mean / samples - o.prior_weight * prior.d_mean;
          by_sd = by_sd / samples - o.prior_weight * prior.d_sd;
          const double d_raw = o.sd_map == SdMap::kExp ? sd : -std::expm1(-sd);  // d delta / d raw
          const double rate = o.schedule * a.learning_rate(at);
          ascend(f.mean(at), by_mean, a.first_mean(at), a.second_mean(at), rate);
          ascend(a.raw(at), by_sd * d_raw, a.first_raw(at), a.second_raw(at), rate);
          f.sd(at) = sd_of_raw(o.sd_map, a.raw(at));
        });
        member.team_barrier();
        if (member.team_rank() == 0) a.steps(client) += 1;
      });
}

}  // namespace fedpp::gpu
