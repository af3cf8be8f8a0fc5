#include "gpu/adam.hpp"

#include "gpu/arrays.hpp"
#include "gpu/divergence.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

AdamState make_adam_state(const Batch& batch) {
  AdamState state;
  ArraySet<double> doubles;
  for (auto* a : {&state.prior_mean, &state.prior_sd, &state.centre, &state.learning_rate, &state.raw,
                  &state.first_mean, &state.second_mean, &state.first_raw, &state.second_raw})
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

/// A slab of a client's weights, which a team has, and where they lie.
struct Place {
  int client, slab, parameters, samples;
  Index posterior, weights;

  KOKKOS_INLINE_FUNCTION Place(const Batch& b, int league_rank, int parts)
      : client(league_rank / parts),
        slab(league_rank % parts),
        parameters(b.parameters(client)),
        samples(b.samples(client)),
        posterior(b.posterior(client)),
        weights(b.weights(client)) {}
};

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

/// Of mean_s J(w_s) - weight dv - mu/2 |r - centre|^2 at weight j.
KOKKOS_INLINE_FUNCTION Slopes objective_slopes(const Fields& f, const AdamState& a, const AdamOptions& o,
                                               const Place& c, Index j) {
  const Index at = c.posterior + j;
  const Slopes by = data_slopes(f, c, j);
  const DivergenceTerm prior = term(o, f.mean(at), f.sd(at), a.prior_mean(at), a.prior_sd(at));
  const double pull = o.proximal > 0 ? o.proximal * (f.mean(at) - a.centre(at)) : 0;
  return {by.mean - o.prior_weight * prior.d_mean - pull, by.sd - o.prior_weight * prior.d_sd};
}

/// Adam's ascent of a slab along `slopes(j)`, the step being counted already.
template <class Along>
KOKKOS_INLINE_FUNCTION void ascend(const Member& member, const Fields& f, const AdamState& a, const AdamOptions& o,
                                   const Place& c, const Along& slopes) {
  if (f.step_taken(c.client) == 0) return;
  const double step = static_cast<double>(a.steps(c.client));
  // 1 - beta^t without loss of digits.
  const double correct1 = -std::expm1(step * math::log(o.beta1));
  const double correct2 = -std::expm1(step * math::log(o.beta2));
  const auto move = [&](double& value, double slope, double& first, double& second, double rate) {
    first = o.beta1 * first + (1 - o.beta1) * slope;
    second = o.beta2 * second + (1 - o.beta2) * slope * slope;
    value += rate * (first / correct1) / (math::sqrt(second / correct2) + o.epsilon);
  };
  team_for_slab(member, c.slab, c.parameters, [&](Index j) {
    const Index at = c.posterior + j;
    const double sd = f.sd(at);
    const Slopes by = slopes(j);
    const double d_raw = o.sd_map == SdMap::kExp ? sd : -std::expm1(-sd);  // d delta / d raw
    const double rate = o.schedule * a.learning_rate(at);
    move(f.mean(at), by.mean, a.first_mean(at), a.second_mean(at), rate);
    move(a.raw(at), by.sd * d_raw, a.first_raw(at), a.second_raw(at), rate);
    f.sd(at) = sd_of_raw(o.sd_map, a.raw(at));
  });
}

/// Apart from the ascent, whose teams all read it.
void count_step(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a) {
  Kokkos::parallel_for(
      "fedpp::weights::count_step"_label, Kokkos::RangePolicy<Exec>(exec, 0, b.clients),
      FEDPP_KERNEL(const int client) { a.steps(client) += f.step_taken(client) != 0; });
}

/// A slab's gradient, weight by weight.
template <class Of>
KOKKOS_INLINE_FUNCTION void write_slopes(const Member& member, const Place& c, const Array<double>& by_mean,
                                         const Array<double>& by_sd, const Of& slopes) {
  team_for_slab(member, c.slab, c.parameters, [&](Index j) {
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
  count_step(exec, b, f, a);
  const int parts = slabs(b.most_parameters);
  Kokkos::parallel_for(
      "fedpp::weights::adam"_label, team_policy(exec, b.clients * parts), FEDPP_KERNEL(const Member& member) {
        const Place c(b, member.league_rank(), parts);
        ascend(member, f, a, o, c, [&](Index j) { return objective_slopes(f, a, o, c, j); });
      });
}

void posterior_gradient(const Exec& exec, const Batch& b, const Fields& f, const Array<double>& by_mean,
                        const Array<double>& by_sd) {
  const int parts = slabs(b.most_parameters);
  Kokkos::parallel_for(
      "fedpp::weights::posterior_gradient"_label, team_policy(exec, b.clients * parts),
      FEDPP_KERNEL(const Member& member) {
        const Place c(b, member.league_rank(), parts);
        write_slopes(member, c, by_mean, by_sd, [&](Index j) { return data_slopes(f, c, j); });
      });
}

void objective_gradient(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                        const Array<double>& by_mean, const Array<double>& by_sd) {
  const int parts = slabs(b.most_parameters);
  Kokkos::parallel_for(
      "fedpp::weights::objective_gradient"_label, team_policy(exec, b.clients * parts),
      FEDPP_KERNEL(const Member& member) {
        const Place c(b, member.league_rank(), parts);
        write_slopes(member, c, by_mean, by_sd, [&](Index j) { return objective_slopes(f, a, o, c, j); });
      });
}

void adam_step_along(const Exec& exec, const Batch& b, const Fields& f, const AdamState& a, const AdamOptions& o,
                     const Array<double>& by_mean, const Array<double>& by_sd) {
  count_step(exec, b, f, a);
  const int parts = slabs(b.most_parameters);
  Kokkos::parallel_for(
      "fedpp::weights::adam_along"_label, team_policy(exec, b.clients * parts), FEDPP_KERNEL(const Member& member) {
        const Place c(b, member.league_rank(), parts);
        ascend(member, f, a, o, c, [&](Index j) { return Slopes{by_mean(c.posterior + j), by_sd(c.posterior + j)}; });
      });
}

}  // namespace fedpp::gpu
