#include "gpu/mixture.hpp"

#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

/// Entry j of a model as client sees it: its own is the one that it trains.
KOKKOS_INLINE_FUNCTION double entry(const Array<double>& models, const Array<double>& own, bool is_own, int model,
                                    int parameters, Index posterior, Index j) {
  return is_own ? own(posterior + j) : models(static_cast<Index>(model) * parameters + j);
}

/// p, and the gradient by the mixture becomes that by the own model.
void step_shares(const Exec& exec, const Batch& b, const Fields& f, const Mixture& m) {
  Kokkos::parallel_for(
      "fedpp::mixture::shares"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        if (f.step_taken(client) == 0) return;
        const int p = b.parameters(client);
        const Index at = b.posterior(client), first = static_cast<Index>(client) * m.models;
        const int own = m.own(client);
        const double own_share = m.share(first + own);
        member.team_barrier();
        for (int model = 0; model < m.models; ++model) {
          const bool is_own = model == own;
          const double slope = team_sum(member, p, [&](Index j) {
            return m.by_mean(at + j) * entry(m.mean, m.own_mean, is_own, model, p, at, j) +
                   m.by_sd(at + j) * entry(m.sd, m.own_sd, is_own, model, p, at, j);
          });
          if (member.team_rank() == 0)
            m.slope(first + model) = m.scale(client) * slope - m.penalty * (m.share(first + model) - m.anchor(model));
        }
        if (member.team_rank() == 0) {
          double mean = 0, sum = 0;
          for (int model = 0; model < m.models; ++model) mean += m.slope(first + model) / m.models;
          for (int model = 0; model < m.models; ++model) {
            const double next = m.share(first + model) + m.rate * (m.slope(first + model) - mean);
            m.share(first + model) = next > 0 ? next : 0.0;
            sum += m.share(first + model);
          }
          for (int model = 0; model < m.models; ++model) m.share(first + model) /= sum;
        }
        team_for(member, p, [&](Index j) {
          m.by_mean(at + j) *= own_share;
          m.by_sd(at + j) *= own_share;
        });
      });
}

}  // namespace

void mix(const Exec& exec, const Batch& b, const Fields& f, const Mixture& m) {
  Kokkos::parallel_for(
      "fedpp::mixture::mix"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const int p = b.parameters(client), own = m.own(client);
        const Index at = b.posterior(client), first = static_cast<Index>(client) * m.models;
        team_for(member, p, [&](Index j) {
          double mean = 0, sd = 0;
          for (int model = 0; model < m.models; ++model) {
            const double share = m.share(first + model);
            mean += share * entry(m.mean, m.own_mean, model == own, model, p, at, j);
            sd += share * entry(m.sd, m.own_sd, model == own, model, p, at, j);
          }
          f.mean(at + j) = mean;
          f.sd(at + j) = sd;
        });
      });
}

void mixture_step(const Exec& exec, const Batch& b, const Fields& f, const AdamState& state, const AdamOptions& options,
                  const Mixture& m) {
  objective_gradient(exec, b, f, state, options, m.by_mean, m.by_sd);
  step_shares(exec, b, f, m);
  Fields own = f;
  own.mean = m.own_mean;
  own.sd = m.own_sd;
  adam_step_along(exec, b, own, state, options, m.by_mean, m.by_sd);
  mix(exec, b, f, m);
}

}  // namespace fedpp::gpu
