// The hand-written adjoint of the surrogate J (spec 1.6) with respect to w, in eight launches, all but the last for
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
#include "gpu/kernels.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu {

namespace {

template <class D>
void explain(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::explain"_label, team_policy(exec, b.realisations), FEDPP_KERNEL(const Member& member) {
        const int i = b.first.realisation + member.league_rank();
        const int m = b.inducing(i);
        const double* factor = f.v_factor.data() + b.square(i);
        double* explained = f.explained.data() + b.square(i);
        D::transposed_triangle_times(member, m, m, factor, m, factor, m, explained, m);
        team_for_2d(member, m, m, [=](int r, int c) {
          double& entry = explained[r + static_cast<Index>(c) * m];
          entry = (r == c ? 1 : 0) - entry;
        });
      });
}

template <class D>
void prepare(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::adjoint::prepare"_label, team_policy(exec, b.problems), FEDPP_KERNEL(const Member& member) {
        const int problem = b.first.problem + member.league_rank();
        const int i = b.problem_realisation(problem);
        const int m = b.inducing(i);
        const double* inverse = f.inverse.data() + b.factor_square(b.factor_of(problem));
        const double* mu = f.v_mean.data() + b.vector(i);
        double* vector = f.b_vector.data() + b.problem_vector(problem);  // [M]
        team_column_sums(
            member, m, m, [=](int c, const double* sum) { vector[c] = sum[0]; },
            [=](int r, int c) { return inverse[r + static_cast<Index>(c) * m] * mu[r]; });
        D::transposed_triangle_times(member, m, m, inverse, m, f.explained.data() + b.square(i), m,
                                     f.b_square.data() + b.problem_square(problem), m);
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
        const Real* v = columns<Real>(f.v, f.v_single) + b.matrix(problem) + static_cast<Index>(first) * m;  // [M x T]
        const Real* k = columns<Real>(f.k, f.k_single) + b.matrix(problem) + static_cast<Index>(first) * m;  // [M x T]
        const double* h = f.embedding.data() + b.embedding(problem) + static_cast<Index>(first) * d;         // [D x T]
        const double* hz = f.inducing_embedding.data() + b.inducing_embedding(b.factor_of(problem));         // [D x M]
        const double* vector = f.b_vector.data() + b.problem_vector(problem);
        double* hbar = f.embedding_adjoint.data() + b.embedding(problem) + static_cast<Index>(first) * d;  // [D x T]
        const double* slopes = w + encoder.weights();
        double* tail = f.task_tail.data() + b.task_tail(task);  // by a, log r, log l
        double* square = f.task_square.data() + b.task_square(task);
        double* weighted = f.task_embedding.data() + b.task_embedding(task);
        const Index mm = static_cast<Index>(m) * m, dm = static_cast<Index>(d) * m, dn = static_cast<Index>(d) * n;
        Scratch scratch(member, tiles_scratch<Real>(b));
        Real* scaled = take<Real>(scratch, scaled_place<Real>(m, n, d));
        Real* g = take<Real>(scratch, static_cast<Index>(m) * n);
        double* rho = scratch.take(n);
        double* column_sum = scratch.take(n);
        double* along = scratch.take(d);
        const Real* bs = rounded<Real>(member, mm, f.b_square.data() + b.problem_square(problem), scratch);
        const Real* h_real = rounded<Real>(member, dn, h, scratch);
        const Real* hz_real = rounded<Real>(member, dm, hz, scratch);
        Real* square_real = place_for<Real>(mm, square, scratch);
        Real* weighted_real = place_for<Real>(weighted, scaled);
        Real* hbar_real = place_for<Real>(hbar, scaled);

        team_for(member, n, [=](Index c) { rho[c] = scale * (beta[c] - alpha[c] * (offset + mean[c])); });
        member.team_barrier();
        // V alpha, and y = V rho.
        team_visit_and_multiply(
            member, m, n,
            [=](int r, int c) {
              const Index at = r + static_cast<Index>(c) * m;
              scaled[at] = static_cast<Real>(scale * alpha[c] * v[at]);
            },
            [=](int r, int c) { return static_cast<double>(v[r + static_cast<Index>(c) * m]); },
            f.task_vector.data() + b.task_vector(task), [=](int c) { return rho[c]; });
        member.team_barrier();
        D::gemm(member, Op::kNone, Op::kNone, m, n, m, 1, bs, m, scaled, m, 0, g, m, {k, static_cast<Index>(m) * n});
        // S = V (scale alpha V)', its lower triangle.
        D::lower_product(member, m, n, 1, v, m, scaled, m, 0, square_real, m, {h, dn});
        deliver(member, mm, square_real, square);
        // G and its sums over rows and columns.
        team_visit_and_multiply(
            member, m, n,
            [=](int r, int c) {
              const Index at = r + static_cast<Index>(c) * m;
              g[at] = static_cast<Real>((g[at] + vector[r] * rho[c]) * k[at]);
            },
            [=](int r, int c) { return static_cast<double>(g[r + static_cast<Index>(c) * m]); },
            f.task_rowsum.data() + b.task_vector(task), [](int) { return 1.0; });
        member.team_barrier();
        team_column_sums(
            member, m, n, [=](int c, const double* sum) { column_sum[c] = sum[0]; },
            [=](int r, int c) { return static_cast<double>(g[r + static_cast<Index>(c) * m]); });
        member.team_barrier();
        D::gemm(member, Op::kNone, Op::kTranspose, d, m, n, 1, h_real, d, g, m, 0, weighted_real, d);
        deliver(member, dm, weighted_real, weighted);
        if constexpr (!std::is_same_v<Real, double>) member.team_barrier();  // its place is dJ/dh's, too
        // dJ/dh_n = -(g_n h_n - sum_m G_mn h_m) / l^2, and the rows of h o dJ/dh.
        const Ahead next = task > 0 ? columns_ahead(b, task - 1, columns<Real>(f.v, f.v_single)) : Ahead();
        D::gemm(member, Op::kNone, Op::kNone, d, n, m, 1, hz_real, d, g, m, 0, hbar_real, d, next);
        team_visit_and_multiply(
            member, d, n,
            [=](int r, int c) {
              const Index at = r + static_cast<Index>(c) * d;
              hbar[at] = inverse_square * (hbar_real[at] - column_sum[c] * h[at]);
            },
            [=](int r, int c) { return h[r + static_cast<Index>(c) * d] * hbar[r + static_cast<Index>(c) * d]; }, along,
            [](int) { return 1.0; });
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
            member, d, n, [=](int r, int c) { hbar[r + static_cast<Index>(c) * d] += slopes[r] * rho[c]; },
            [=](int r, int c) { return h[r + static_cast<Index>(c) * d]; }, tail, [=](int c) { return rho[c]; });
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
        if (tiles == 0) return;
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
        add(b.encoder(b.client(i)).tail(), f.task_tail, b.task_tail);
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
        team_for(member, b.encoder(client).tail(), [=](Index j) { tail[j] = selected ? columns_tail[j] : 0; });
        if (!selected) return;
        const int m = b.inducing(i);
        const double* explained = f.explained.data() + b.square(i);
        const double* mu = f.v_mean.data() + b.vector(i);
        const double* y = f.task_vector.data() + b.task_vector(task);
        double* square = f.task_square.data() + b.task_square(task);
        Scratch scratch(member, couple_scratch(b));
        double* s = scratch.take(couple_scratch(b));
        team_for(member, static_cast<Index>(m) * m, [=](Index at) { s[at] = square[at]; });
        team_mirror_lower(member, m, s);  // only the lower triangle was formed
        D::lower_product(member, m, m, -1.0, explained, m, s, m, 0.0, square, m);
        team_for_2d(member, m, m, [=](int r, int c) { square[r + static_cast<Index>(c) * m] -= mu[r] * y[c]; });
        team_mirror_lower(member, m, square);
      });
}

/// Per factor and slab of entries: the sums over the realisations of its set, from the last to the first. One that
/// reaches beyond the chunk has the sums of later chunks already; one realisation alone has nothing to add.
void add_set(const Exec& exec, const Batch& b, const Fields& f) {
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
        const Index mm = static_cast<Index>(m) * m;
        const double* w = weights_of(b, f, client, b.problem_sample(problem));
        const double inverse_square = math::exp(-2 * w[p - 1]);
        const double* inverse = f.inverse.data() + b.factor_square(factor);
        const double* kzz = f.kzz.data() + b.factor_square(factor);
        const double* hz = f.inducing_embedding.data() + b.inducing_embedding(factor);
        double* hbar = f.inducing_embedding_adjoint.data() + b.inducing_embedding(factor);  // [D x M]
        const bool alone = b.set_end(i) == i + 1;
        const int task = alone ? b.tile_task(b.tile_begin(i)) + b.problem_sample(problem) : 0;
        const double* inner =
            alone ? f.task_square.data() + b.task_square(task) : f.set_square.data() + b.factor_square(factor);
        const double* columns_rowsum =
            alone ? f.task_rowsum.data() + b.task_vector(task) : f.set_rowsum.data() + b.problem_vector(problem);
        const double* columns_embedding = alone ? f.task_embedding.data() + b.task_embedding(task) : hbar;
        Scratch scratch(member, finish_scratch(b));
        double* half = scratch.take(mm);
        double* kbar = scratch.take(mm);
        double* rowsum = scratch.take(m);
        double* ones = scratch.take(m);
        double* hg = scratch.take(static_cast<Index>(d) * m);
        D::transposed_triangle_times(member, m, m, inverse, m, inner, m, half, m);
        D::gemm(member, Op::kNone, Op::kNone, m, m, m, 1.0, half, m, inverse, m, 0.0, kbar, m, {kzz, mm});
        // G_zz = dJ/dK o K(z,z)
        double* g = half;
        team_for(member, mm, [=](Index at) { g[at] = 0.5 * kbar[at] * kzz[at]; });
        team_for(member, m, [=](Index at) {
          rowsum[at] = columns_rowsum[at];
          ones[at] = 1;
        });
        member.team_barrier();
        const double zz = team_sum(member, mm, [&](Index at) { return g[at]; });
        // dJ/dh_m: both arguments of K(z,z) (twice), one of k(z,t).
        D::gemm(member, Op::kNone, Op::kNone, m, 1, m, 2.0, g, m, ones, m, 1.0, rowsum, m);
        D::gemm(member, Op::kNone, Op::kNone, d, m, m, 2.0, hz, d, g, m, 0.0, hg, d);
        team_for_2d(member, d, m, [=](int r, int c) {
          const Index at = r + static_cast<Index>(c) * d;
          hbar[at] = inverse_square * (columns_embedding[at] + hg[at] - rowsum[c] * hz[at]);
        });
        member.team_barrier();
        const double lengthscale =
            -team_sum(member, static_cast<Index>(d) * m, [&](Index j) { return hz[j] * hbar[j]; });
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
        const int p = b.parameters(client), tail = b.encoder(client).tail();
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
