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

struct Slopes {
  double mean, sd;
};

/// Of mean_s J(w_s) at weight j of a client.
KOKKOS_INLINE_FUNCTION Slopes data_slopes(const Fields& f, Index weights, int p, int samples, Index j) {
  Slopes by{0, 0};
  for (int s = 0; s < samples; ++s) {
    const Index w = weights + static_cast<Index>(s) * p + j;
    by.mean += f.gradient(w);
    by.sd += f.gradient(w) * f.noise(w);
  }
  return {by.mean / samples, by.sd / samples};
}

/// Of mean_s J(w_s) - weight dv at weight j of a client.
KOKKOS_INLINE_FUNCTION Slopes objective_slopes(const Fields& f, const AdamState& a, const AdamOptions& o,
                                               Index posterior, Index weights, int p, int samples, Index j) {
  const Index at = posterior + j;
  const Slopes by = data_slopes(f, weights, p, samples, j);
  const DivergenceTerm prior = term(o, f.mean(at), f.sd(at), a.prior_mean(at), a.prior_sd(at));
  return {by.mean - o.prior_weight * prior.d_mean, by.sd - o.prior_weight * prior.d_sd};
}

/// Adam's `step`-th ascent of one client's weights: the gradient by r and delta of weight j from `gradient(j)`.
template <class Gradient>
KOKKOS_INLINE_FUNCTION void ascend(const Member& member, const Fields& f, const AdamState& a, const AdamOptions& o,
                                   double step, Index posterior, int p, const Gradient& gradient) {
  // 1 - beta^t without loss of digits.
  const double correct1 = -std::expm1(step * math::log(o.beta1));
  const double correct2 = -std::expm1(step * math::log(o.beta2));
  const auto move = [&](double& value, double slope, double& first, double& second, double rate) {
    first = o.beta1 * first + (1 - o.beta1) * slope;
    second = o.beta2 * second + (1 - o.beta2) * slope * slope;
    value += rate * (first / correct1) / (math::sqrt(second / correct2) + o.epsilon);
  };
  team_for(member, p, [&](Index j) {
    const Index at = posterior + j;
    const double sd = f.sd(at);
    const Slopes by = gradient(j);
    const double d_raw = o.sd_map == SdMap::kExp ? sd : -std::expm1(-sd);  // d delta / d raw
    const double rate = o.schedule * a.learning_rate(at);
    move(f.mean(at), by.mean, a.first_mean(at), a.second_mean(at), rate);
    move(a.raw(at), by.sd * d_raw, a.first_raw(at), a.second_raw(at), rate);
    f.sd(at) = sd_of_raw(o.sd_map, a.raw(at));
  });
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
        member.team_barrier();
        ascend(member, f, a, o, step, posterior, p,
               [&](Index j) { return objective_slopes(f, a, o, posterior, weights, p, samples, j); });
        member.team_barrier();
        if (member.team_rank() == 0) a.steps(client) += 1;
      });
}

void posterior_gradient(const Exec& exec, const Batch& b, const Fields& f, const Array<double>& by_mean,
                        const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::posterior_gradient"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        const int p = b.parameters(client), samples = b.samples(client);
        const Index posterior = b.posterior(client), weights = b.weights(client);
        team_for(member, p, [&](Index j) {
          const Slopes by = data_slopes(f, weights, p, samples, j);
          by_mean(posterior + j) = by.mean;
          by_sd(posterior + j) = by.sd;
        });
      });
}

void objective_gradient(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                        const Array<double>& by_mean, const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::objective_gradient"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        const int p = b.parameters(client), samples = b.samples(client);
        const Index posterior = b.posterior(client), weights = b.weights(client);
        team_for(member, p, [&](Index j) {
          const Slopes by = objective_slopes(f, a, o, posterior, weights, p, samples, j);
          by_mean(posterior + j) = by.mean;
          by_sd(posterior + j) = by.sd;
        });
      });
}

void adam_step_along(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                     const Array<double>& by_mean, const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::adam_along"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        if (f.step_taken(client) == 0) return;
        const Index posterior = b.posterior(client);
        const double step = static_cast<double>(a.steps(client) + 1);
        member.team_barrier();
        ascend(member, f, a, o, step, posterior, b.parameters(client),
               [&](Index j) { return Slopes{by_mean(posterior + j), by_sd(posterior + j)}; });
        member.team_barrier();
        if (member.team_rank() == 0) a.steps(client) += 1;
      });
}

}  // namespace fedpp::gpu
