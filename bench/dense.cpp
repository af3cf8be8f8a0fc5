// Batches of small factorisations, solves and products: ours and the vendor's.
#include "gpu/dense.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gpu/batch.hpp"
#include "gpu/device.hpp"
#include "measure.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cusolverDn.h>
#endif

namespace {

using namespace fedpp;
using gpu::Index;

/// As many problems as asked for, within a quarter of a gigabyte on a host and half of what is free on a device.
Index problems(benchmark::State& state, int m) {
  const double most = (gpu::kHostBackend ? 0.25e9 : 0.5e6 * gpu::free_device_mb()) / (16.0 * m * m);
  return std::min<Index>(state.range(1), static_cast<Index>(most));
}

/// K(z,z) of an RBF kernel with neighbours a length-scale apart, in every problem.
gpu::Array<double> gram_matrices(int m, Index count) {
  const gpu::Array<double> a("gram", count * m * m);
  Kokkos::parallel_for(
      "fedpp::bench::gram", Kokkos::RangePolicy<gpu::Exec>(0, count * m * m), FEDPP_KERNEL(const Index at) {
        const Index row = at % m, column = at / m % m;
        const double d = static_cast<double>(row - column);
        a(at) = gpu::math::exp(-0.5 * d * d) + (row == column ? 1e-6 : 0);
      });
  return a;
}

/// Right-hand sides: [m x n] a problem.
gpu::Array<double> columns(Index n) {
  const gpu::Array<double> b("columns", n);
  Kokkos::parallel_for(
      "fedpp::bench::columns", Kokkos::RangePolicy<gpu::Exec>(0, n),
      FEDPP_KERNEL(const Index at) { b(at) = 1e-3 * static_cast<double>(at % 997) - 0.5; });
  return b;
}

/// Cholesky of m^3 / 3 operations; reads A, writes L, which is in scratch in between, as where the program factorises.
template <class D>
void cholesky(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0));
  const Index count = problems(state, m), square = static_cast<Index>(m) * m;
  const auto a = gram_matrices(m, count);
  const gpu::Array<double> l("factor", count * square);
  const gpu::Array<int> info("info", count);
  bench::measure(state, static_cast<double>(count) * gpu::Cost{m * square / 3.0, 16.0 * square},
                 [&](const gpu::Exec& exec) {
                   Kokkos::parallel_for(
                       "fedpp::bench::cholesky", gpu::team_policy(exec, static_cast<int>(count), square),
                       FEDPP_KERNEL(const gpu::Member& member) {
                         const double* from = a.data() + member.league_rank() * square;
                         double* to = l.data() + member.league_rank() * square;
                         gpu::Scratch scratch(member, square);
                         const gpu::Matrix own = scratch.take(m, m);
                         gpu::team_for(member, square, [=](Index at) { own[at] = from[at]; });
                         member.team_barrier();
                         const int failed = D::potrf(member, own);
                         gpu::team_for(member, square, [=](Index at) { to[at] = own[at]; });
                         if (member.team_rank() == 0) info(member.league_rank()) = failed;
                       });
                 });
  state.counters["problems"] = static_cast<double>(count);
}

/// L^-1 B for 256 columns, as the program does it: the inverse (m^3 / 3 operations), then a product (m^2 a column);
/// reads L and B, writes both.
template <class D>
void triangular_solve(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0)), n = 256;
  const Index count = problems(state, m) * m / (m + 2 * n) + 1, square = static_cast<Index>(m) * m;
  const auto l = gram_matrices(m, count);
  const gpu::Array<double> inverse("inverse", count * square);
  const auto b = columns(count * m * n);
  const gpu::Array<double> x("solution", count * m * n);
  bench::measure(state, static_cast<double>(count) * gpu::Cost{m * square / 3.0 + square * n, 16.0 * (square + m * n)},
                 [&](const gpu::Exec& exec) {
                   Kokkos::parallel_for(
                       "fedpp::bench::triangular_solve", gpu::team_policy(exec, static_cast<int>(count)),
                       FEDPP_KERNEL(const gpu::Member& member) {
                         const Index k = member.league_rank();
                         const gpu::Matrix own(inverse.data() + k * square, m, m);
                         D::invert_lower(member, gpu::Matrix(l.data() + k * square, m, m), own);
                         D::triangle_times(member, own, gpu::Matrix(b.data() + k * m * n, m, n),
                                           gpu::Matrix(x.data() + k * m * n, m, n));
                       });
                 });
  state.counters["problems"] = static_cast<double>(count);
}

/// B V of a tile: 2 m^2 operations a column.
template <class D>
void tile_product(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0)), n = gpu::tile_columns();
  const Index count = problems(state, m) * m / (m + 2 * n) + 1, square = static_cast<Index>(m) * m;
  const auto a = gram_matrices(m, count);
  const auto b = columns(count * m * n);
  const gpu::Array<double> c("c", count * m * n);
  bench::measure(state, static_cast<double>(count) * gpu::Cost{2.0 * square * n, 8.0 * (square + 2 * m * n)},
                 [&](const gpu::Exec& exec) {
                   Kokkos::parallel_for(
                       "fedpp::bench::tile_product", gpu::team_policy(exec, static_cast<int>(count)),
                       FEDPP_KERNEL(const gpu::Member& member) {
                         const Index k = member.league_rank();
                         D::product(member, 1, gpu::Matrix(a.data() + k * square, m, m),
                                    gpu::Matrix(b.data() + k * m * n, m, n), 0,
                                    gpu::Matrix(c.data() + k * m * n, m, n));
                       });
                 });
  state.counters["problems"] = static_cast<double>(count);
}

#if defined(KOKKOS_ENABLE_CUDA)
/// cuSOLVER's batched factorisation on the same matrices, the copy before it included.
void cholesky_cusolver(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0));
  const Index count = problems(state, m), square = static_cast<Index>(m) * m;
  const auto a = gram_matrices(m, count);
  const gpu::Array<double> l("factor", count * square);
  const gpu::Array<std::uintptr_t> pointers("pointers", count);
  const gpu::Array<int> info("info", count);
  Kokkos::parallel_for(
      "fedpp::bench::pointers", Kokkos::RangePolicy<gpu::Exec>(0, count),
      FEDPP_KERNEL(const Index k) { pointers(k) = reinterpret_cast<std::uintptr_t>(l.data() + k * square); });
  cusolverDnHandle_t handle = nullptr;
  if (cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS) return state.SkipWithError("cuSOLVER cannot be started");
  bench::measure(
      state, static_cast<double>(count) * gpu::Cost{m * square / 3.0, 16.0 * square}, [&](const gpu::Exec& exec) {
        Kokkos::deep_copy(exec, l, a);
        if (cusolverDnSetStream(handle, exec.cuda_stream()) != CUSOLVER_STATUS_SUCCESS ||
            cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, m, reinterpret_cast<double**>(pointers.data()), m,
                                    info.data(), static_cast<int>(count)) != CUSOLVER_STATUS_SUCCESS)
          state.SkipWithError("cusolverDnDpotrfBatched failed");
      });
  state.counters["problems"] = static_cast<double>(count);
  cusolverDnDestroy(handle);
}
#endif

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"M", "batch"});
  for (const int m : {16, 32, 50, 64, 128})
    for (const int batch : {1'000, 10'000, 100'000}) {
      if (gpu::kHostBackend && batch > 1'000) continue;  // one problem after another: the batch changes nothing
      b->Args({m, batch});
    }
  b->UseManualTime()->Unit(benchmark::kMillisecond);
}

#define FEDPP_DENSE(function, D) \
  static const auto* function##_##D = benchmark::RegisterBenchmark(#function "/" #D, function<gpu::D>)->Apply(sizes)

FEDPP_DENSE(cholesky, TeamDense);
FEDPP_DENSE(triangular_solve, TeamDense);
FEDPP_DENSE(tile_product, TeamDense);
#if defined(KOKKOS_ENABLE_CUDA)
static const auto* cholesky_vendor = benchmark::RegisterBenchmark("cholesky/cuSOLVER", cholesky_cusolver)->Apply(sizes);
#elif !defined(FEDPP_DEVICE_BACKEND)
FEDPP_DENSE(cholesky, BlasDense);
FEDPP_DENSE(triangular_solve, BlasDense);
FEDPP_DENSE(tile_product, BlasDense);
#endif

}  // namespace
