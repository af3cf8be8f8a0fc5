// Polya-Gamma augmentation at the columns, and what follows from its sums: m, nu, ELBO, surrogate (theory 1.3 to 1.6).
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/polya_gamma.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {
// Per team: mean of mu [T].
KOKKOS_INLINE_FUNCTION Index augment_scratch(const Batch& b) { return b.most_tile; }
}  // namespace

void add_augment_scratch(const Batch& batch, ScratchWanted& wanted) {
  wanted.launch(batch.tiles, augment_scratch(batch));
}

void augment(const Exec& exec, const Batch& b, const Fields& f, bool with_bound) {
  Kokkos::parallel_for(
      "fedpp::augmentation::refresh"_label, team_policy(exec, b.tiles, augment_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int tile = b.first.tile + member.league_rank();
        const int i = b.tile_realisation(tile);
        const int client = b.client(i), samples = b.samples(client), n = b.tile_columns(tile);
        const Index first = b.column(i) + b.tile_first(tile);
        const Index stride = b.columns(i);  // samples of one realisation lie behind each other
        const double* projection = f.projection.data() + b.problem_column(b.problem(i)) + b.tile_first(tile);
        const double* variance = f.variance.data() + b.problem_column(b.problem(i)) + b.tile_first(tile);
        const double rate = f.rate(client), offset = f.offset(client);
        const double *multiplicity = f.multiplicity.data() + first, *node_weight = f.node_weight.data() + first;
        double *c = f.c.data() + first, *xi = f.xi.data() + first, *lambda = f.lambda.data() + first;
        double *alpha = f.alpha.data() + first, *beta = f.beta.data() + first;
        Scratch scratch(member, augment_scratch(b));
        double* mean = scratch.take(n);  // of mu over the samples
        double* square = c;
        team_for(member, n, [=](Index j) { mean[j] = square[j] = 0; });
        for (int s = 0; s < samples; ++s) {  // a thread keeps its columns
          const double *mu = projection + s * stride, *spread = variance + s * stride;
          team_for(member, n, [=](Index j) {
            const double x = offset + mu[j];
            mean[j] += x;
            square[j] += x * x + spread[j];
          });
        }
        // One pass over the columns writes the fields; the sums follow from them.
        const double share = 1.0 / samples;
        team_for(member, n, [=](Index j) {
          mean[j] *= share;
          c[j] = math::sqrt(share * square[j]);
          const Augmentation point = augment_point(mean[j], c[j]);
          xi[j] = point.xi;
          lambda[j] = rate * point.sigmoid;
          alpha[j] = (multiplicity[j] + node_weight[j] * lambda[j]) * xi[j];
          beta[j] = 0.5 * (multiplicity[j] - node_weight[j] * lambda[j]);
        });
        member.team_barrier();
        double sums[kTileSums];
        sums[kSumEvents] = team_sum(member, n, [=](Index j) { return multiplicity[j]; });
        sums[kSumExposure] = team_sum(member, n, [=](Index j) { return node_weight[j]; });
        sums[kSumThinned] = team_sum(member, n, [=](Index j) { return node_weight[j] * (1 - lambda[j] / rate); });
        sums[kSumAlpha] = team_sum(member, n, [=](Index j) { return alpha[j]; });
        sums[kSumResidual] = team_sum(member, n, [=](Index j) { return beta[j] - alpha[j] * (mean[j] - offset); });
        sums[kSumBound] = 0;
        if (with_bound)
          sums[kSumBound] = team_sum(member, n, [=](Index j) {
            const double bound = multiplicity[j] > 0 ? multiplicity[j] * (0.5 * mean[j] - log_2cosh_half(c[j])) : 0;
            return bound + node_weight[j] * lambda[j];
          });
        if (member.team_rank() == 0)
          for (int k = 0; k < kTileSums; ++k) f.tile_sums(static_cast<Index>(tile) * kTileSums + k) = sums[k];
      });
}

namespace {

/// A client's sum over its tiles, in their order.
KOKKOS_INLINE_FUNCTION double client_sum(const Member& member, const Batch& b, const Fields& f, int client,
                                         TileSum which) {
  const int begin = b.client_tiles(client);
  return team_sum(member, b.client_tiles(client + 1) - begin,
                  [&](Index t) { return f.tile_sums((begin + t) * kTileSums + which); });
}

}  // namespace

void update_rate(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::augmentation::rate"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const double events = client_sum(member, b, f, client, kSumEvents);
        const double exposure = client_sum(member, b, f, client, kSumExposure);
        const double thinned = client_sum(member, b, f, client, kSumThinned);
        if (member.team_rank() == 0 && exposure > 0)
          f.rate(client) = math::fmax(thinned > 0 ? events / thinned : 0.0, f.least_events(client) / exposure);
      });
}

void update_offset(const Exec& exec, const Batch& b, const Fields& f, double precision, bool only_with_events) {
  Kokkos::parallel_for(
      "fedpp::augmentation::offset"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const double residual = client_sum(member, b, f, client, kSumResidual);
        const double alpha = client_sum(member, b, f, client, kSumAlpha);
        const double events = client_sum(member, b, f, client, kSumEvents);
        if (only_with_events && !(events > 0)) return;
        if (member.team_rank() == 0 && alpha + precision > 0)
          f.offset(client) = (residual + precision * f.offset_center(client)) / (alpha + precision);
      });
}

void elbo(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::augmentation::divergence"_label, team_policy(exec, b.realisations), FEDPP_KERNEL(const Member& member) {
        // KL[q(v) || N(0, I)], Sigma_v = F'F: trace |F|^2, log-determinant 2 sum log F_jj.
        const int i = member.league_rank(), m = b.inducing(i);
        const double* mu = f.v_mean.data() + b.vector(i);
        const double* factor = f.v_factor.data() + b.square(i);
        const double twice = team_sum(member, m, [=](Index c) {
          const double* column = factor + c * m;
          double sum = mu[c] * mu[c] - 2 * math::log(column[c]) - 1;
          for (int row = static_cast<int>(c); row < m; ++row) sum += column[row] * column[row];
          return sum;
        });
        if (member.team_rank() == 0) f.v_divergence(i) = 0.5 * twice;
      });
  Kokkos::parallel_for(
      "fedpp::augmentation::elbo"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const double events = client_sum(member, b, f, client, kSumEvents);
        const double exposure = client_sum(member, b, f, client, kSumExposure);
        double bound = client_sum(member, b, f, client, kSumBound);
        const int begin = b.client_realisations(client);
        bound -= team_sum(member, b.client_realisations(client + 1) - begin,
                          [&](Index r) { return f.v_divergence(begin + r); });
        if (member.team_rank() == 0)
          f.elbo(client) = bound + events * math::log(f.rate(client)) - f.rate(client) * exposure;
      });
}

void surrogate(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::augmentation::surrogate"_label, team_policy(exec, b.problems), FEDPP_KERNEL(const Member& member) {
        const int problem = b.first.problem + member.league_rank();
        const int i = b.problem_realisation(problem);
        const double offset = f.offset(b.client(i));
        const Index column = b.column(i), at = b.problem_column(problem);
        const double value = team_sum(member, b.columns(i), [&](Index j) {
          const double mu = offset + f.projection(at + j);
          return f.beta(column + j) * mu - 0.5 * f.alpha(column + j) * (mu * mu + f.variance(at + j));
        });
        if (member.team_rank() == 0) f.surrogate(problem) = value;
      });
}

}  // namespace fedpp::gpu
