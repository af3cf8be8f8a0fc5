// V = L^-1 kappa(z, t) at a realisation's columns, and the moments of f there (spec 1.2).
#include "gpu/cost.hpp"
#include "gpu/kernel_matrix.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::gpu {

namespace {

// Per team: F V [M x T], and F [M x M] in V's precision.
template <class Real>
KOKKOS_INLINE_FUNCTION Index moments_scratch(const Batch& b) {
  const Index m = b.most_inducing;
  return doubles_for<Real>(m * b.most_tile) + copy_scratch<Real>(m * m);
}

/// The moments of f at a tile's columns from V and what V leaves unexplained there.
template <class D, class Real>
KOKKOS_INLINE_FUNCTION void tile_moments(const Member& member, const Batch& b, const Fields& f, int tile, int sample,
                                         Scratch& scratch, Ahead ahead = {}) {
  const int i = b.tile_realisation(tile);
  const int problem = b.problem(i) + sample;
  const int m = b.inducing(i), first = b.tile_first(tile), n = b.tile_columns(tile);
  const Real* v = columns<Real>(f.v, f.v_single) + b.matrix(problem) + static_cast<Index>(first) * m;  // [M x T]
  const double* mu = f.v_mean.data() + b.vector(i);
  const double* unexplained = f.unexplained.data() + b.problem_column(problem) + first;
  const double* trend = f.trend.data() + b.problem_column(problem) + first;
  double* mean = f.projection.data() + b.problem_column(problem) + first;
  double* s = f.variance.data() + b.problem_column(problem) + first;
  Real* fv = take<Real>(scratch, static_cast<Index>(m) * n);
  const Real* factor = rounded<Real>(member, static_cast<Index>(m) * m, f.v_factor.data() + b.square(i), scratch);
  member.team_barrier();
  D::triangle_times(member, m, n, factor, m, v, m, fv, m, ahead);
  team_column_sums(
      member, m, n,
      [=](int c, const double* sums) {
        mean[c] = trend[c] + sums[0];
        s[c] = unexplained[c] + sums[1];
      },
      [=](int r, int c) { return v[r + static_cast<Index>(c) * m] * mu[r]; },
      [=](int r, int c) {
        const double y = fv[r + static_cast<Index>(c) * m];
        return y * y;
      });
}

// Per team: what rbf_block needs, in mixed precision k and V [M x T] as they are formed, and tile_moments' part.
template <class Real>
KOKKOS_INLINE_FUNCTION Index features_scratch(const Batch& b) {
  const Index formed = std::is_same_v<Real, double> ? 0 : 2 * static_cast<Index>(b.most_inducing) * b.most_tile;
  return rbf_scratch(b.most_width, b.most_inducing, b.most_tile) + formed + moments_scratch<Real>(b);
}

template <class D, class Real>
void run_features(const Exec& exec, const Batch& b, const Fields& f, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::features::project"_label, team_policy(exec, b.tasks, features_scratch<Real>(b)),
      FEDPP_KERNEL(const Member& member) {
        const int task = b.first.task + member.league_rank();
        const int tile = b.task_tile(task), sample = b.task_sample(task);
        if (batch_only && f.tile_scale(tile) == 0) return;
        const int i = b.tile_realisation(tile);
        const int client = b.client(i), problem = b.problem(i) + sample, factor = b.factor_of(problem);
        const Encoder& encoder = b.encoder(client);
        const int m = b.inducing(i), first = b.tile_first(tile), n = b.tile_columns(tile), d = encoder.dimension;
        const int p = b.parameters(client);
        const double* w = weights_of(b, f, client, sample);
        const double* h = f.embedding.data() + b.embedding(problem) + static_cast<Index>(first) * d;        // [D x T]
        Real* kept_k = columns<Real>(f.k, f.k_single) + b.matrix(problem) + static_cast<Index>(first) * m;  // [M x T]
        Real* kept_v = columns<Real>(f.v, f.v_single) + b.matrix(problem) + static_cast<Index>(first) * m;  // [M x T]
        const double variance = math::exp(w[p - 2]);
        const double* slopes = w + encoder.weights();
        double* trend = f.trend.data() + b.problem_column(problem) + first;
        double* unexplained = f.unexplained.data() + b.problem_column(problem) + first;
        // A column's threads are not the same in loops of different shapes: it is written by one of the two.
        if (encoder.slopes > 0)
          team_column_sums(
              member, d, n, [=](int c, const double* sum) { trend[c] = sum[0]; },
              [=](int r, int c) { return slopes[r] * h[r + static_cast<Index>(c) * d]; });
        else
          team_for(member, n, [=](Index c) { trend[c] = 0; });
        Scratch scratch(member, features_scratch<Real>(b));
        const Index entries = static_cast<Index>(m) * n;
        double* k = place_for<double>(entries, kept_k, scratch);
        double* v = place_for<double>(entries, kept_v, scratch);
        rbf_block<D>(member, d, variance, math::exp(w[p - 1]), m,
                     f.inducing_embedding.data() + b.inducing_embedding(factor), n, h, k,
                     scratch.take(rbf_scratch(d, m, n)), {kept_v, entries});
        D::triangle_times(member, m, n, f.inverse.data() + b.factor_square(factor), m, k, m, v, m);
        team_column_sums(
            member, m, n,
            [=](int c, const double* explained) {
              unexplained[c] = math::fmax(variance - explained[0], 0.0);  // >= 0 up to rounding
            },
            [=](int r, int c) {
              const double x = v[r + static_cast<Index>(c) * m];
              return x * x;
            });
        deliver(member, entries, k, kept_k);
        deliver(member, entries, v, kept_v);
        Ahead next;
        if (member.league_rank() + 1 < b.tasks) next = columns_ahead(b, task + 1, columns<Real>(f.k, f.k_single));
        tile_moments<D, Real>(member, b, f, tile, sample, scratch, next);  // V is still in a cache
      });
}

template <class D, class Real>
void run_moments(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::features::moments"_label, team_policy(exec, b.tasks, moments_scratch<Real>(b)),
      FEDPP_KERNEL(const Member& member) {
        const int task = b.first.task + member.league_rank();
        Scratch scratch(member, moments_scratch<Real>(b));
        tile_moments<D, Real>(member, b, f, b.task_tile(task), b.task_sample(task), scratch);
      });
}

}  // namespace

/// h_z'h and L^-1 k, V'V, a'h, and the moments from V at hand; reads h, writes k and V, mean and variance.
Cost features_cost(const ClientExtent& c, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns, d = c.encoder.dimension;
  return c.samples * Cost{2 * d * m * n + 2 * m * m * n + 6 * m * n + 2 * c.encoder.slopes * n,
                          n * (8 * d + 2 * matrix_bytes(c) * m + 16)};
}

/// F V, two scalar products a column; reads V, writes mean and variance.
Cost moments_cost(const ClientExtent& c, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns;
  return c.samples * Cost{m * m * n + 4 * m * n, n * (matrix_bytes(c) * m + 16)};
}

void features(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) {
  with_dense([&]<class D>() {
    with_precision(batch, [&]<class Real>() { run_features<D, Real>(exec, batch, fields, batch_only); });
  });
}

void moments(const Exec& exec, const Batch& batch, const Fields& fields) {
  with_dense(
      [&]<class D>() { with_precision(batch, [&]<class Real>() { run_moments<D, Real>(exec, batch, fields); }); });
}

}  // namespace fedpp::gpu
