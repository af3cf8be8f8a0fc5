#include "gpu/adam.hpp"

#include "gpu/arrays.hpp"
#include "gpu/divergence.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

AdamState make_adam_state(const Batch& batch) {
  AdamState state;
  ArraySet<double> doubles;
  for (auto* a : {&state.prior_mean, &state.prior_sd, &state.learning_rate, &state.raw, &state.first_mean,
                  &state.second_mean, &state.first_raw, &state.second_raw})
    doubles.zeros("adam", *a, batch.lengths.posterior);
  doubles.zeros("divergence", state.divergence, batch.clients);
  doubles.make("adam");
  ArraySet<std::int64_t> counts;
  counts.zeros("steps", state.steps, batch.clients);
  counts.make("adam_steps");
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

/// By r and delta of one weight.
struct Slopes {
  double mean, sd;
};

/// Where a client's weights lie.
struct Place {
  Index posterior, weights;
  int parameters, samples;
};

KOKKOS_INLINE_FUNCTION Place place(const Batch& b, int client) {
  return {b.posterior(client), b.weights(client), b.parameters(client), b.samples(client)};
}

/// Of mean_s J(w_s) at weight j.
KOKKOS_INLINE_FUNCTION Slopes data_slopes(const Fields& f, const Place& c, Index j) {
  Slopes by{0, 0};
  for (int s = 0; s < c.samples; ++s) {
    const Index w = c.weights + static_cast<Index>(s) * c.parameters + j;
    by.mean += f.gradient(w);
    by.sd += f.gradient(w) * f.noise(w);
  }
  return {by.mean / c.samples, by.sd / c.samples};
}

/// Of mean_s J(w_s) - weight dv at weight j.
KOKKOS_INLINE_FUNCTION Slopes objective_slopes(const Fields& f, const AdamState& a, const AdamOptions& o,
                                               const Place& c, Index j) {
  const Index at = c.posterior + j;
  const Slopes by = data_slopes(f, c, j);
  const DivergenceTerm prior = term(o, f.mean(at), f.sd(at), a.prior_mean(at), a.prior_sd(at));
  return {by.mean - o.prior_weight * prior.d_mean, by.sd - o.prior_weight * prior.d_sd};
}

/// Adam's next ascent of one client's weights along `slopes(j)`.
template <class Along>
KOKKOS_INLINE_FUNCTION void ascend(const Member& member, const Fields& f, const AdamState& a, const AdamOptions& o,
                                   int client, const Place& c, const Along& slopes) {
  if (f.step_taken(client) == 0) return;
  const double step = static_cast<double>(a.steps(client) + 1);
  // 1 - beta^t without loss of digits.
  const double correct1 = -std::expm1(step * math::log(o.beta1));
  const double correct2 = -std::expm1(step * math::log(o.beta2));
  const auto move = [&](double& value, double slope, double& first, double& second, double rate) {
    first = o.beta1 * first + (1 - o.beta1) * slope;
    second = o.beta2 * second + (1 - o.beta2) * slope * slope;
    value += rate * (first / correct1) / (math::sqrt(second / correct2) + o.epsilon);
  };
  member.team_barrier();
  team_for(member, c.parameters, [&](Index j) {
    const Index at = c.posterior + j;
    const double sd = f.sd(at);
    const Slopes by = slopes(j);
    const double d_raw = o.sd_map == SdMap::kExp ? sd : -std::expm1(-sd);  // d delta / d raw
    const double rate = o.schedule * a.learning_rate(at);
    move(f.mean(at), by.mean, a.first_mean(at), a.second_mean(at), rate);
    move(a.raw(at), by.sd * d_raw, a.first_raw(at), a.second_raw(at), rate);
    f.sd(at) = sd_of_raw(o.sd_map, a.raw(at));
  });
  member.team_barrier();
  if (member.team_rank() == 0) a.steps(client) += 1;
}

/// A client's gradient, weight by weight.
template <class Of>
KOKKOS_INLINE_FUNCTION void write_slopes(const Member& member, const Place& c, const Array<double>& by_mean,
                                         const Array<double>& by_sd, const Of& slopes) {
  team_for(member, c.parameters, [&](Index j) {
    const Slopes by = slopes(j);
    by_mean(c.posterior + j) = by.mean;
    by_sd(c.posterior + j) = by.sd;
  });
}

}  // namespace

void prior_divergence(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o) {
  Kokkos::parallel_for(
      "fedpp::weights::divergence"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
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
      "fedpp::weights::adam"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const Place c = place(b, client);
        ascend(member, f, a, o, client, c, [&](Index j) { return objective_slopes(f, a, o, c, j); });
      });
}

void posterior_gradient(const Exec& exec, const Batch& b, const Fields& f, const Array<double>& by_mean,
                        const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::posterior_gradient"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const Place c = place(b, member.league_rank());
        write_slopes(member, c, by_mean, by_sd, [&](Index j) { return data_slopes(f, c, j); });
      });
}

void objective_gradient(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                        const Array<double>& by_mean, const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::objective_gradient"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const Place c = place(b, member.league_rank());
        write_slopes(member, c, by_mean, by_sd, [&](Index j) { return objective_slopes(f, a, o, c, j); });
      });
}

void adam_step_along(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                     const Array<double>& by_mean, const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::adam_along"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const Place c = place(b, client);
        ascend(member, f, a, o, client, c,
               [&](Index j) { return Slopes{by_mean(c.posterior + j), by_sd(c.posterior + j)}; });
      });
}

}  // namespace fedpp::gpu
