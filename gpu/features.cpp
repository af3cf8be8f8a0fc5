// V = L^-1 kappa(z, t) at a realisation's columns, and the moments of f there (theory 1.2).
#include "gpu/cost.hpp"
#include "gpu/kernel_matrix.hpp"
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/precision.hpp"

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
  const Matrix v = v_of<Real>(b, f, tile, sample);
  const double* mu = f.v_mean.data() + b.vector(i);
  const double* unexplained = f.unexplained.data() + b.problem_column(problem) + first;
  const double* trend = f.trend.data() + b.problem_column(problem) + first;
  double* mean = f.projection.data() + b.problem_column(problem) + first;
  double* s = f.variance.data() + b.problem_column(problem) + first;
  const Matrix fv = take<Real>(scratch, m, n);
  const Matrix factor = rounded<Real>(member, Matrix(f.v_factor.data() + b.square(i), m, m), scratch);
  member.team_barrier();
  D::triangle_times(member, factor, v, fv, ahead);
  team_column_sums(
      member, m, n,
      [=](int c, const double* sums) {
        mean[c] = trend[c] + sums[0];
        s[c] = unexplained[c] + sums[1];
      },
      [=](int r, int c) { return v(r, c) * mu[r]; },
      [=](int r, int c) {
        const double y = fv(r, c);
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
        const Matrix h = h_of(b, f.embedding, tile, sample);
        const Matrix kept_k = k_of<Real>(b, f, tile, sample), kept_v = v_of<Real>(b, f, tile, sample);
        const double variance = math::exp(w[p - 2]);
        const double* slopes = w + encoder.weights;
        double* trend = f.trend.data() + b.problem_column(problem) + first;
        double* unexplained = f.unexplained.data() + b.problem_column(problem) + first;
        // A column's threads are not the same in loops of different shapes: it is written by one of the two.
        if (encoder.slopes > 0)
          team_column_sums(
              member, d, n, [=](int c, const double* sum) { trend[c] = sum[0]; },
              [=](int r, int c) { return slopes[r] * h(r, c); });
        else
          team_for(member, n, [=](Index c) { trend[c] = 0; });
        Scratch scratch(member, features_scratch<Real>(b));
        const Matrix k = place_for<double>(kept_k, scratch), v = place_for<double>(kept_v, scratch);
        rbf_block<D>(member, variance, math::exp(w[p - 1]), hz_of(b, f.inducing_embedding, factor), h, k,
                     scratch.take(rbf_scratch(d, m, n)), kept_v);
        D::triangle_times(member, Matrix(f.inverse.data() + b.factor_square(factor), m, m), k, v);
        team_column_sums(
            member, m, n,
            [=](int c, const double* explained) {
              unexplained[c] = math::fmax(variance - explained[0], 0.0);  // >= 0 up to rounding
            },
            [=](int r, int c) {
              const double x = v(r, c);
              return x * x;
            });
        deliver(member, k, kept_k);
        deliver(member, v, kept_v);
        Ahead next;
        if (kHostBackend && member.league_rank() + 1 < b.tasks)
          next = k_of<Real>(b, f, b.task_tile(task + 1), b.task_sample(task + 1));
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

void add_features_scratch(const Batch& batch, ScratchWanted& wanted) {
  with_precision(batch, [&]<class Real>() {
    wanted.launch(batch.tasks, features_scratch<Real>(batch));
    wanted.launch(batch.tasks, moments_scratch<Real>(batch));
  });
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
