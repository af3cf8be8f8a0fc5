// The hand-written adjoint of the surrogate J (theory 1.6) with respect to w, in eight launches, all but the last for
// every chunk:
//   explain   per realisation  E = I - Sigma_v [M x M]
//   prepare   per problem      B = L^-T E [M x M],  a = L^-T mu_v [M]
//   tiles     per task         kbar = B V alpha + a rho' [M x T]; G = kbar o k; sums over the tile's columns
//   add_tiles per problem      the tiles' sums, in order
//   couple    per problem      -Psi(E S + mu_v y') [M x M], S = V alpha V', y = V rho
//   add_set   per factor       the sums over a set's realisations, from the last to the first
//   finish    per factor       dJ/dK = L^-T . L^-1 / 2 of that sum; inducing side
//   collect   per client       sum over realisations for a, log r, log l
// and between the last two the encoder's own adjoint, from dJ/dh at columns and inducing points (and what an alignment
// adds at the columns: log l does not see it). Chunks go from the last to the first: a set is complete where it begins.
// kbar = L^-T dJ/dV because dJ/dV = rho mu_v' + (I - Sigma_v) V alpha: one matrix product a tile instead of two and a
// solve. Lbar = -tril(B S + a y') is not formed: a Cholesky factor's adjoint keeps the lower triangle of L' Lbar alone,
// which is that of -L' (B S + a y') = -(E S + mu_v y'), L' being upper triangular. Psi = Phi + Phi' is that triangle
// with its image above the diagonal, so that L^-T Psi L^-1 is symmetric by itself, twice sym(L^-T Phi L^-1).
#include <ranges>

#include "gpu/alignment.hpp"
#include "gpu/cost.hpp"
#include "gpu/dense.hpp"
#include "gpu/encoder.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/pieces.hpp"
#include "gpu/precision.hpp"

namespace fedpp::gpu {

namespace {

template <class D>
void explain(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::explain"_label, team_policy(exec, b.realisations), FEDPP_KERNEL(const Member& member) {
        const int i = b.first.realisation + member.league_rank();
        const int m = b.inducing(i);
        const Matrix factor(f.v_factor.data() + b.square(i), m, m), explained(f.explained.data() + b.square(i), m, m);
        D::transposed_triangle_times(member, factor, factor, explained);
        team_for_2d(member, m, m, [=](int r, int c) { explained(r, c) = (r == c ? 1 : 0) - explained(r, c); });
      });
}

template <class D>
void prepare(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::prepare"_label, team_policy(exec, b.problems), FEDPP_KERNEL(const Member& member) {
        const int problem = b.first.problem + member.league_rank();
        const int i = b.problem_realisation(problem);
        const int m = b.inducing(i);
        const Matrix inverse(f.inverse.data() + b.factor_square(b.factor_of(problem)), m, m);
        const Matrix explained(f.explained.data() + b.square(i), m, m);
        const double* mu = f.v_mean.data() + b.vector(i);
        double* vector = f.b_vector.data() + b.problem_vector(problem);  // [M]
        team_column_sums(
            member, m, m, [=](int c, const double* sum) { vector[c] = sum[0]; },
            [=](int r, int c) { return inverse(r, c) * mu[r]; });
        D::transposed_triangle_times(member, inverse, explained,
                                     Matrix(f.b_square.data() + b.problem_square(problem), m, m));
      });
}

/// Numbers in the place of V alpha [M x T], where in mixed precision sum_n G_mn h_n [D x M] and then dJ/dh [D x T] are
/// formed once it has been used.
template <class Real>
KOKKOS_INLINE_FUNCTION Index scaled_place(Index m, Index t, Index d) {
  const Index formed = std::is_same_v<Real, double> ? 0 : d * (m > t ? m : t);
  return m * t > formed ? m * t : formed;
}

// Per team: V alpha, G [M x T] in V's precision; rho, column sums [T]; rows of h o dJ/dh [D]; in mixed precision copies
// of B [M x M], h [D x T], h_z [D x M] and the place of V alpha V' [M x M].
template <class Real>
KOKKOS_INLINE_FUNCTION Index tiles_scratch(const Batch& b) {
  const Index t = b.most_tile, m = b.most_inducing, d = b.most_width;
  return doubles_for<Real>(scaled_place<Real>(m, t, d)) + doubles_for<Real>(m * t) + 2 * t + d +
         2 * copy_scratch<Real>(m * m) + copy_scratch<Real>(d * t) + copy_scratch<Real>(d * m);
}

template <class D, class Real>
void tiles(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::tiles"_label, team_policy(exec, b.tasks, tiles_scratch<Real>(b)),
      FEDPP_KERNEL(const Member& member) {
        const int task = b.first.task + b.tasks - 1 - member.league_rank();  // the last one's V is still in a cache
        const int tile = b.task_tile(task), sample = b.task_sample(task);
        const double scale = f.tile_scale(tile);
        if (scale == 0) return;
        const int i = b.tile_realisation(tile);
        const int client = b.client(i), problem = b.problem(i) + sample, p = b.parameters(client);
        const Encoder& encoder = b.encoder(client);
        const int m = b.inducing(i), first = b.tile_first(tile), n = b.tile_columns(tile), d = encoder.dimension;
        const double* w = weights_of(b, f, client, sample);
        const double variance = math::exp(w[p - 2]);
        const double inverse_square = math::exp(-2 * w[p - 1]);  // 1 / l^2
        const double offset = f.offset(client);
        const double* alpha = f.alpha.data() + b.column(i) + first;
        const double* beta = f.beta.data() + b.column(i) + first;
        const double* mean = f.projection.data() + b.problem_column(problem) + first;
        const Matrix v = v_of<Real>(b, f, tile, sample), k = k_of<Real>(b, f, tile, sample);
        const Matrix h = h_of(b, f.embedding, tile, sample), hbar = h_of(b, f.embedding_adjoint, tile, sample);
        const double* vector = f.b_vector.data() + b.problem_vector(problem);
        const double* slopes = w + encoder.weights;
        double* tail = f.task_tail.data() + b.task_tail(task);  // by a, log r, log l
        const Matrix square(f.task_square.data() + b.task_square(task), m, m);
        const Matrix weighted(f.task_embedding.data() + b.task_embedding(task), d, m);
        Scratch scratch(member, tiles_scratch<Real>(b));
        const Matrix scaled(take<Real>(scratch, scaled_place<Real>(m, n, d)), m, n);
        const Matrix g = take<Real>(scratch, m, n);
        double* rho = scratch.take(n);
        double* column_sum = scratch.take(n);
        double* along = scratch.take(d);
        const Matrix bs = rounded<Real>(member, Matrix(f.b_square.data() + b.problem_square(problem), m, m), scratch);
        const Matrix h_real = rounded<Real>(member, h, scratch);
        const Matrix hz_real = rounded<Real>(member, hz_of(b, f.inducing_embedding, b.factor_of(problem)), scratch);
        const Matrix square_real = place_for<Real>(square, scratch);
        const Matrix weighted_real = place_for(weighted, scaled.data), hbar_real = place_for(hbar, scaled.data);

        team_for(member, n, [=](Index c) { rho[c] = scale * (beta[c] - alpha[c] * (offset + mean[c])); });
        member.team_barrier();
        // V alpha, and y = V rho.
        team_visit_and_multiply(
            member, m, n, [=](int r, int c) { scaled(r, c) = static_cast<Real>(scale * alpha[c] * v(r, c)); }, v,
            f.task_vector.data() + b.task_vector(task), [=](int c) { return rho[c]; });
        member.team_barrier();
        D::product(member, 1, bs, scaled, 0, g, k);
        // S = V (scale alpha V)', its lower triangle.
        D::lower_product(member, 1, v, scaled, 0, square_real, h);
        deliver(member, square_real, square);
        // G and its sums over rows and columns.
        team_visit_and_multiply(
            member, m, n, [=](int r, int c) { g(r, c) = static_cast<Real>((g(r, c) + vector[r] * rho[c]) * k(r, c)); },
            g, f.task_rowsum.data() + b.task_vector(task), [](int) { return 1.0; });
        member.team_barrier();
        team_column_sums(member, m, n, [=](int c, const double* sum) { column_sum[c] = sum[0]; }, g);
        member.team_barrier();
        D::product(member, 1, h_real, transposed(g), 0, weighted_real);
        deliver(member, weighted_real, weighted);
        if constexpr (!std::is_same_v<Real, double>) member.team_barrier();  // its place is dJ/dh's, too
        // dJ/dh_n = -(g_n h_n - sum_m G_mn h_m) / l^2, and the rows of h o dJ/dh.
        Ahead next;
        if (kHostBackend && task > 0) next = v_of<Real>(b, f, b.task_tile(task - 1), b.task_sample(task - 1));
        D::product(member, 1, hz_real, g, 0, hbar_real, next);
        team_visit_and_multiply(
            member, d, n,
            [=](int r, int c) { hbar(r, c) = inverse_square * (hbar_real(r, c) - column_sum[c] * h(r, c)); },
            [=](int r, int c) { return h(r, c) * hbar(r, c); }, along, [](int) { return 1.0; });
        member.team_barrier();
        // k scales with r, kappa_nn = r; J depends on l and all embeddings through distances / l only.
        const double log_variance =
            team_sum(member, n, [&](Index c) { return column_sum[c] - 0.5 * scale * alpha[c] * variance; });
        const double log_lengthscale = -team_sum(member, d, [&](Index j) { return along[j]; });
        if (member.team_rank() == 0) {
          tail[encoder.slopes] = log_variance;
          tail[encoder.slopes + 1] = log_lengthscale;
        }
        if (encoder.slopes == 0) return;
        // The prior mean a'h: dJ/da = sum rho h, and rho a on top of the kernel's dJ/dh, which log l does not see.
        member.team_barrier();
        team_visit_and_multiply(
            member, d, n, [=](int r, int c) { hbar(r, c) += slopes[r] * rho[c]; }, h, tail,
            [=](int c) { return rho[c]; });
      });
}

/// Per problem and slab of entries: the sum of what tiles() left of the mini-batch's tiles, in the place of the first
/// tile's.
void add_tiles(const Exec& exec, const Batch& b, const Fields& f) {
  const Index m = b.most_inducing, d = b.most_width, tail = d + 2;
  const Index matrix = m * (m > d ? m : d);
  const int parts = slabs(matrix > tail ? matrix : tail);
  Kokkos::parallel_for(
      "fedpp::adjoint::add_tiles"_label, team_policy(exec, b.problems * parts), FEDPP_KERNEL(const Member& member) {
        const int problem = b.first.problem + member.league_rank() / parts, slab = member.league_rank() % parts;
        const int i = b.problem_realisation(problem), sample = b.problem_sample(problem);
        if (f.step_taken(b.client(i)) == 0) return;
        const int first = b.tile_begin(i), tiles = b.tile_begin(i + 1) - first;
        if (tiles < 2) return;
        const auto add = [&](Index entries, const Array<double>& array, const auto& offset) {
          const auto place = [&](int k) { return array.data() + offset(b.tile_task(first + k) + sample); };
          const auto selected = [&](int k) { return f.tile_scale(first + k) != 0 ? place(k) : nullptr; };
          const Index begin = slab * kSlab, end = begin + kSlab < entries ? begin + kSlab : entries;
          team_add_parts(member, begin, end, tiles, selected, place(0));
        };
        const Index m = b.inducing(i), d = b.encoder(b.client(i)).dimension;
        add(m * m, f.task_square, b.task_square);
        add(d * m, f.task_embedding, b.task_embedding);
        add(m, f.task_vector, b.task_vector);
        add(m, f.task_rowsum, b.task_vector);
        add(b.encoder(b.client(i)).tail, f.task_tail, b.task_tail);
      });
}

// Per team: S, whole [M x M].
KOKKOS_INLINE_FUNCTION Index couple_scratch(const Batch& b) {
  return static_cast<Index>(b.most_inducing) * b.most_inducing;
}

/// In the place of S, the lower triangle of -(E S + mu_v y') and its image above.
template <class D>
void couple(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::couple"_label, team_policy(exec, b.problems, couple_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int problem = b.first.problem + member.league_rank();
        const int i = b.problem_realisation(problem), client = b.client(i);
        if (f.step_taken(client) == 0) return;
        const bool selected = in_mini_batch(b, f, i);
        const int task = selected ? b.tile_task(b.tile_begin(i)) + b.problem_sample(problem) : 0;  // see add_tiles()
        double* tail = f.problem_tail.data() + b.problem_tail(problem);
        const double* columns_tail = f.task_tail.data() + b.task_tail(task);
        team_for(member, b.encoder(client).tail, [=](Index j) { tail[j] = selected ? columns_tail[j] : 0; });
        if (!selected) return;
        const int m = b.inducing(i);
        const Matrix explained(f.explained.data() + b.square(i), m, m);
        const double* mu = f.v_mean.data() + b.vector(i);
        const double* y = f.task_vector.data() + b.task_vector(task);
        const Matrix square(f.task_square.data() + b.task_square(task), m, m);
        Scratch scratch(member, couple_scratch(b));
        const Matrix s = scratch.take(m, m);
        team_for(member, s.size(), [=](Index at) { s[at] = square[at]; });
        team_mirror_lower(member, s);  // only the lower triangle was formed
        D::lower_product(member, -1, explained, s, 0, square);
        team_for_2d(member, m, m, [=](int r, int c) { square(r, c) -= mu[r] * y[c]; });
        team_mirror_lower(member, square);
      });
}

/// Per factor and slab of entries: the sums over the realisations of its set, from the last to the first. One that
/// reaches beyond the chunk has the sums of later chunks already; one realisation alone has nothing to add.
void add_set(const Exec& exec, const Batch& b, const Fields& f) {
  if (!kHostBackend && b.factors == b.problems) return;  // no set has two; a host's chunk may hold a part of one
  const Index m = b.most_inducing, d = b.most_width;
  const int parts = slabs(m * (m > d ? m : d));
  Kokkos::parallel_for(
      "fedpp::adjoint::add_set"_label, team_policy(exec, b.factors * parts), FEDPP_KERNEL(const Member& member) {
        const int factor = b.first.factor + member.league_rank() / parts, slab = member.league_rank() % parts;
        const int problem = b.factor_problem(factor), sample = b.problem_sample(problem);
        const int begins = b.problem_realisation(problem), client = b.client(begins);
        if (f.step_taken(client) == 0) return;
        const int chunk_end = b.first.realisation + b.realisations;
        const int begin = begins > b.first.realisation ? begins : b.first.realisation;
        const int set_ends = b.set_end(begins);
        if (set_ends == begins + 1) return;  // finish() reads the realisation's own
        const int end = set_ends < chunk_end ? set_ends : chunk_end;
        const auto add = [&](Index entries, const Array<double>& array, const Array<Index>& offset, double* to) {
          const auto part = [&](int k) -> const double* {
            if (k == 0) return set_ends > chunk_end ? to : nullptr;
            const int i = end - k;
            return in_mini_batch(b, f, i) ? array.data() + offset(b.tile_task(b.tile_begin(i)) + sample) : nullptr;
          };
          const Index first = slab * kSlab, last = first + kSlab < entries ? first + kSlab : entries;
          team_add_parts(member, first, last, 1 + end - begin, part, to);
        };
        const Index m = b.inducing(begins), d = b.encoder(client).dimension;
        add(m * m, f.task_square, b.task_square, f.set_square.data() + b.factor_square(factor));
        add(m, f.task_rowsum, b.task_vector, f.set_rowsum.data() + b.problem_vector(problem));
        add(d * m, f.task_embedding, b.task_embedding,
            f.inducing_embedding_adjoint.data() + b.inducing_embedding(factor));
      });
}

// Per team: two matrices [M x M], row sums [M] and ones [M], h_z G_zz [D x M].
KOKKOS_INLINE_FUNCTION Index finish_scratch(const Batch& b) {
  const Index m = b.most_inducing;
  return 2 * m * m + 2 * m + b.most_width * m;
}

template <class D>
void finish(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::finish"_label, team_policy(exec, b.factors, finish_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int factor = b.first.factor + member.league_rank(), problem = b.factor_problem(factor);
        if (problem < b.first.problem) return;  // where its set begins the sums are complete
        const int i = b.problem_realisation(problem), client = b.client(i), p = b.parameters(client);
        if (f.step_taken(client) == 0 || !set_in_mini_batch(b, f, i)) return;
        const Encoder& encoder = b.encoder(client);
        const int m = b.inducing(i), d = encoder.dimension;
        const double* w = weights_of(b, f, client, b.problem_sample(problem));
        const double inverse_square = math::exp(-2 * w[p - 1]);
        const Matrix inverse(f.inverse.data() + b.factor_square(factor), m, m);
        const Matrix kzz(f.kzz.data() + b.factor_square(factor), m, m);
        const Matrix hz = hz_of(b, f.inducing_embedding, factor), hbar = hz_of(b, f.inducing_embedding_adjoint, factor);
        const bool alone = b.set_end(i) == i + 1;
        const int task = alone ? b.tile_task(b.tile_begin(i)) + b.problem_sample(problem) : 0;
        const Matrix inner(
            alone ? f.task_square.data() + b.task_square(task) : f.set_square.data() + b.factor_square(factor), m, m);
        const double* columns_rowsum =
            alone ? f.task_rowsum.data() + b.task_vector(task) : f.set_rowsum.data() + b.problem_vector(problem);
        const Matrix columns_embedding(alone ? f.task_embedding.data() + b.task_embedding(task) : hbar.data, d, m);
        Scratch scratch(member, finish_scratch(b));
        const Matrix half = scratch.take(m, m), kbar = scratch.take(m, m);
        const Matrix rowsum = scratch.take(m, 1), ones = scratch.take(m, 1);
        const Matrix hg = scratch.take(d, m);
        D::transposed_triangle_times(member, inverse, inner, half);
        D::product(member, 1, half, inverse, 0, kbar, kzz);
        // G_zz = dJ/dK o K(z,z)
        const Matrix g = half;
        team_for(member, g.size(), [=](Index at) { g[at] = 0.5 * kbar[at] * kzz[at]; });
        team_for(member, m, [=](Index at) {
          rowsum[at] = columns_rowsum[at];
          ones[at] = 1;
        });
        member.team_barrier();
        const double zz = team_sum(member, g.size(), [&](Index at) { return g[at]; });
        // dJ/dh_m: both arguments of K(z,z) (twice), one of k(z,t).
        D::product(member, 2, g, ones, 1, rowsum);
        D::product(member, 2, hz, g, 0, hg);
        team_for_2d(member, d, m, [=](int r, int c) {
          hbar(r, c) = inverse_square * (columns_embedding(r, c) + hg(r, c) - rowsum[c] * hz(r, c));
        });
        member.team_barrier();
        const double lengthscale = -team_sum(member, hbar.size(), [&](Index j) { return hz[j] * hbar[j]; });
        double* tail = f.problem_tail.data() + b.problem_tail(problem) + encoder.slopes;
        if (member.team_rank() == 0) {
          tail[0] += zz;
          tail[1] += lengthscale;
        }
      });
}

void collect(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::collect"_label, team_policy(exec, b.clients), FEDPP_KERNEL(const Member& member) {
        const int client = member.league_rank();
        const int p = b.parameters(client), tail = b.encoder(client).tail;
        const int begin = b.client_realisations(client), end = b.client_realisations(client + 1);
        team_for(member, static_cast<Index>(tail) * b.samples(client), [&](Index at) {
          const Index sample = at / tail, j = at % tail;
          double sum = 0;
          for (int i = begin; i < end; ++i)
            sum += f.problem_tail(b.problem_tail(b.problem(i) + static_cast<int>(sample)) + j);
          f.gradient(b.weights(client) + sample * p + p - tail + j) = sum;
        });
      });
}

}  // namespace

/// explain: F'F. prepare: L^-T E (triangles). tiles: B V, V alpha V' (half), V rho, row sums of G, h G', h_z G, rho h'
/// and a rho'; reads V, k, h, writes dJ/dh. couple: E S (half). finish, once a set: products with L^-T (triangle), with
/// L^-1, h_z G_zz.
Cost adjoint_cost(const ClientExtent& c, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns, d = c.encoder.dimension, m3 = m * m * m;
  const Cost explain{m3, 8 * 2 * m * m}, prepare{m3, 8 * 3 * m * m};
  const Cost tiles{n * (3 * m * m + 4 * m + 4 * d * m + 4 * c.encoder.slopes), n * (2 * matrix_bytes(c) * m + 16 * d)};
  const Cost couple{m3, 8 * 2 * m * m};
  const Cost finish = r.shares_inducing ? Cost{} : Cost{3 * m3 + 2 * d * m * m, 8 * (3 * m * m + 2 * d * m)};
  return explain + c.samples * (prepare + tiles + couple + finish);
}

void add_adjoint_scratch(const Batch& batch, ScratchWanted& wanted) {
  with_precision(batch, [&]<class Real>() { wanted.launch(batch.tasks, tiles_scratch<Real>(batch)); });
  wanted.launch(batch.problems, couple_scratch(batch));
  wanted.launch(batch.factors, finish_scratch(batch));
}

void embed(const Exec& exec, const Batch& batch, const Fields& fields, EncoderOperator& encoder, bool batch_only) {
  const Region region("fedpp::embed");
  encoder.embed(exec, batch, fields, batch_only);
}

void adjoint(const Exec& exec, const Batch& batch, const std::vector<Batch>& chunks, const Fields& fields,
             EncoderOperator& encoder, const Alignment* alignment) {
  const Region region("fedpp::adjoint");
  const auto by_encoder = [&](const Batch& part, const Fields& its) {
    const Region region("fedpp::embed_adjoint");
    encoder.adjoint(exec, part, its);
  };
  const bool at_once = alignment || !batch.by_chunks;
  Fields all = fields;
  if (alignment && alignment->embedding_adjoint.extent(0) > 0) all.embedding_adjoint = alignment->embedding_adjoint;
  for (const Batch& chunk : std::views::reverse(chunks)) {
    const Fields own = adjoint_fields(all, chunk, /*with_columns=*/!at_once);
    with_dense([&]<class D>() {
      explain<D>(exec, chunk, own);
      prepare<D>(exec, chunk, own);
      with_precision(chunk, [&]<class Real>() { tiles<D, Real>(exec, chunk, own); });
      add_tiles(exec, chunk, own);
      couple<D>(exec, chunk, own);
      add_set(exec, chunk, own);
      finish<D>(exec, chunk, own);
    });
    if (!at_once) by_encoder(chunk, own);
  }
  if (alignment) align(exec, batch, all, *alignment);
  if (at_once) by_encoder(batch, all);
  encoder.collect(exec, batch, fields);
  collect(exec, batch, fields);
}

}  // namespace fedpp::gpu
