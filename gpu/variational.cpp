// The closed-form update of q(v) (theory 1.4): Sigma_v^-1 = I + E_w[V alpha V'], mu_v =
// Sigma_v E_w[V (beta - alpha (nu + a'h))].
#include "gpu/cost.hpp"
#include "gpu/dense.hpp"
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/precision.hpp"

namespace fedpp::gpu {

namespace {

// Per team: V alpha [M x T] in V's precision, one sample's V (beta - alpha mean) [M] and, in mixed precision, V alpha
// V' [M x M].
template <class Real>
KOKKOS_INLINE_FUNCTION Index accumulate_scratch(const Batch& b) {
  const Index m = b.most_inducing;
  return doubles_for<Real>(m * b.most_tile) + m + copy_scratch<Real>(m * m);
}

/// square = share V (V alpha)' of the first sample, or more by that of a further one; lower triangle.
template <class D>
KOKKOS_INLINE_FUNCTION void add_square(const Member& member, double share, bool first, Matrix<double> v,
                                       Matrix<double> scaled, Matrix<double>, Matrix<double> square) {
  D::lower_product(member, share, v, scaled, first ? 0.0 : 1.0, square);
}
template <class D>
KOKKOS_INLINE_FUNCTION void add_square(const Member& member, double share, bool first, Matrix<float> v,
                                       Matrix<float> scaled, Matrix<float> part, Matrix<double> square) {
  D::lower_product(member, 1, v, scaled, 0, part);
  team_for_2d(member, square.rows, square.columns,
              [=](int r, int c) { square(r, c) = share * (r < c ? 0 : part(r, c)) + (first ? 0 : square(r, c)); });
  member.team_barrier();
}

/// Per tile: lower triangle of mean_s V alpha V' and mean_s V (beta - alpha mean).
template <class D, class Real>
void accumulate(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::variational::accumulate"_label, team_policy(exec, b.tiles, accumulate_scratch<Real>(b)),
      FEDPP_KERNEL(const Member& member) {
        const int tile = b.first.tile + b.tiles - 1 - member.league_rank();  // the last one's V is still in a cache
        const int i = b.tile_realisation(tile);
        const int client = b.client(i), samples = b.samples(client);
        const int m = b.inducing(i), first = b.tile_first(tile), n = b.tile_columns(tile);
        const double* alpha = f.alpha.data() + b.column(i) + first;
        const double* beta = f.beta.data() + b.column(i) + first;
        const double offset = f.offset(client);
        const Matrix square(f.tile_square.data() + b.tile_square(tile), m, m);
        double* vector = f.tile_vector.data() + b.tile_vector(tile);  // [M]
        Scratch scratch(member, accumulate_scratch<Real>(b));
        const Matrix scaled = take<Real>(scratch, m, n);
        double* product = scratch.take(m);
        const Matrix part = place_for<Real>(square, scratch);
        const double share = 1.0 / samples;
        for (int s = 0; s < samples; ++s) {
          const Matrix v = v_of<Real>(b, f, tile, s);
          const double* trend = f.trend.data() + b.problem_column(b.problem(i) + s) + first;
          team_visit_and_multiply(
              member, m, n, [=](int r, int c) { scaled(r, c) = static_cast<Real>(v(r, c) * alpha[c]); }, v, product,
              [=](int c) { return beta[c] - alpha[c] * (offset + trend[c]); });
          member.team_barrier();
          team_for(member, m, [=](Index r) { vector[r] = share * product[r] + (s == 0 ? 0 : vector[r]); });
          add_square<D>(member, share, s == 0, v, scaled, part, square);
        }
      });
}

/// Per realisation and slab of entries: the sum of its tiles' shares, in the first tile's place.
void add_systems(const Exec& exec, const Batch& b, const Fields& f) {
  const int parts = slabs(static_cast<Index>(b.most_inducing) * b.most_inducing);
  Kokkos::parallel_for(
      "fedpp::variational::add_systems"_label, team_policy(exec, b.realisations * parts),
      FEDPP_KERNEL(const Member& member) {
        const int i = b.first.realisation + member.league_rank() / parts, slab = member.league_rank() % parts;
        const int first = b.tile_begin(i), tiles = b.tile_begin(i + 1) - first;
        if (tiles < 2) return;
        const Index m = b.inducing(i), end = (slab + 1) * kSlab < m * m ? (slab + 1) * kSlab : m * m;
        const auto square = [&](int k) { return f.tile_square.data() + b.tile_square(first + k); };
        const auto vector = [&](int k) { return f.tile_vector.data() + b.tile_vector(first + k); };
        team_add_parts(member, slab * kSlab, end, tiles, square, square(0));
        if (slab == 0) team_add_parts(member, 0, m, tiles, vector, vector(0));
      });
}

// Per team: the precision and then its factor's inverse [M x M], right-hand side [M].
KOKKOS_INLINE_FUNCTION Index solve_scratch(const Batch& b) {
  return static_cast<Index>(b.most_inducing) * (b.most_inducing + 2);
}

/// Per realisation: A = I + the tiles' sum = Lp Lp', F = Lp^-1, mu_v = F' F b.
template <class D>
void solve(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::variational::solve"_label, team_policy(exec, b.realisations, solve_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int i = b.first.realisation + member.league_rank();
        const int m = b.inducing(i);
        Scratch scratch(member, solve_scratch(b));
        const Matrix a = scratch.take(m, m);
        double* rhs = scratch.take(m);
        double* half = scratch.take(m);
        const int tile = b.tile_begin(i);
        const bool any = tile < b.tile_begin(i + 1);
        const Matrix square(any ? f.tile_square.data() + b.tile_square(tile) : nullptr, m, m);
        const double* vector = any ? f.tile_vector.data() + b.tile_vector(tile) : nullptr;
        team_for_2d(member, m, m, [=](int r, int c) { a(r, c) = (r == c ? 1 : 0) + (any ? square(r, c) : 0); });
        team_for(member, m, [=](Index r) { rhs[r] = any ? vector[r] : 0; });
        member.team_barrier();
        // A >= I: this fails only where a failed problem has filled V with what is not finite; info of factorise()
        // tells.
        D::potrf(member, a);
        const Matrix factor(f.v_factor.data() + b.square(i), m, m);
        D::invert_lower(member, a, factor);
        double* mu = f.v_mean.data() + b.vector(i);
        team_multiply(member, m, m, factor, half, [=](int c) { return rhs[c]; });
        member.team_barrier();
        team_column_sums(
            member, m, m, [=](int c, const double* sum) { mu[c] = sum[0]; },
            [=](int r, int c) { return factor(r, c) * half[r]; });
      });
}

}  // namespace

/// V alpha V' and V (beta - alpha mean) of every sample; Cholesky and inverse factor once. Reads V.
Cost variational_cost(const ClientExtent& c, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns;
  return c.samples * Cost{m * m * n + 2 * m * n, matrix_bytes(c) * n * m} +
         Cost{2 * m * m * m / 3 + 2 * m * m, 8 * (m * m + 2 * n)};
}

void add_variational_scratch(const Batch& batch, ScratchWanted& wanted) {
  with_precision(batch, [&]<class Real>() { wanted.launch(batch.tiles, accumulate_scratch<Real>(batch)); });
  wanted.launch(batch.realisations, solve_scratch(batch));
}

void update_variational(const Exec& exec, const Batch& batch, const Fields& fields) {
  with_dense(
      [&]<class D>() { with_precision(batch, [&]<class Real>() { accumulate<D, Real>(exec, batch, fields); }); });
  solve_variational(exec, batch, fields);
}

void solve_variational(const Exec& exec, const Batch& batch, const Fields& fields) {
  add_systems(exec, batch, fields);
  with_dense([&]<class D>() { solve<D>(exec, batch, fields); });
}

}  // namespace fedpp::gpu
