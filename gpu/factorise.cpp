// K(z,z) and its Cholesky factor per (set, sample), with the jitter policy of theory 1.4 inside the kernel.
#include "gpu/cost.hpp"
#include "gpu/kernel_matrix.hpp"
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu {

namespace {

// Per team: what rbf_block needs, and then L [M x M].
KOKKOS_INLINE_FUNCTION Index kernel_scratch(const Batch& b) {
  const Index m = b.most_inducing, block = rbf_scratch(b.most_width, b.most_inducing, b.most_inducing);
  return block > m * m ? block : m * m;
}

template <class D>
void run(const Exec& exec, const Batch& b, const Fields& f, double jitter_limit, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::kernel_matrix::factorise"_label, team_policy(exec, b.factors, kernel_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int factor = b.first.factor + member.league_rank(), problem = b.factor_problem(factor);
        if (problem < b.first.problem) return;  // the chunk of the set's first realisation formed it
        const int i = b.problem_realisation(problem);
        if (batch_only && !set_in_mini_batch(b, f, i)) return;
        const int client = b.client(i);
        const int m = b.inducing(i);
        const int p = b.parameters(client);
        const double* w = weights_of(b, f, client, b.problem_sample(problem));
        const double variance = math::exp(w[p - 2]), lengthscale = math::exp(w[p - 1]);
        const Matrix h = hz_of(b, f.inducing_embedding, factor);
        const Matrix k(f.kzz.data() + b.factor_square(factor), m, m);
        Scratch scratch(member, kernel_scratch(b));
        const Matrix l(scratch.take(kernel_scratch(b)), m, m);
        rbf_block<D>(member, variance, lengthscale, h, h, k, l.data);
        double relative = f.base_jitter(client);
        int info = 0;
        for (;;) {
          team_for_2d(member, m, m, [=](int r, int c) {
            if (r == c) k(r, r) = variance * (1 + relative);
            l(r, c) = r >= c ? k(r, c) : 0;
          });
          member.team_barrier();
          info = D::potrf(member, l);
          const double next = relative > 0 ? relative * 10 : 1e-12;
          if (info == 0 || next > jitter_limit * (1 + 1e-12)) break;
          relative = next;
        }
        // V = L^-1 k and the adjoint's solves are products with the inverse: several times faster than solves, and no
        // less exact here (|L^-1| is at most the root of 1 / jitter).
        D::invert_lower(member, l, Matrix(f.inverse.data() + b.factor_square(factor), m, m));
        if (member.team_rank() == 0) {
          double smallest = l(0, 0);
          for (int j = 1; j < (info ? info : m); ++j) smallest = math::fmin(smallest, l(j, j));
          // A failure stays until the host asks: nothing is hidden, and no epoch waits for the host.
          const double pivot = info ? l(info - 1, info - 1) : smallest * smallest;
          if (f.info(problem) == 0) {
            f.info(problem) = info;
            f.pivot(problem) = pivot;
            f.jitter(problem) = math::fmax(f.jitter(problem), relative);
          }
        }
      });
}

}  // namespace

/// h_z'h_z [M x M], Cholesky, inverse, once a set; reads h_z, writes K and L^-1.
Cost factorise_cost(const ClientExtent& c, const RealisationExtent& r) {
  if (r.shares_inducing) return {};
  const double m = r.inducing, d = c.encoder.dimension;
  return c.samples * Cost{d * m * m + 2 * m * m * m / 3, 8 * (d * m + 2 * m * m)};
}

void add_factorise_scratch(const Batch& batch, ScratchWanted& wanted) {
  wanted.launch(batch.factors, kernel_scratch(batch));
}

void factorise(const Exec& exec, const Batch& batch, const Fields& fields, double jitter_limit, bool batch_only) {
  with_dense([&]<class D>() { run<D>(exec, batch, fields, jitter_limit, batch_only); });
}

}  // namespace fedpp::gpu
