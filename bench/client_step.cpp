// A local epoch of one pooled client against the same core's DGEMM rate, measured in the same run.
//   build: cmake --preset cpu -DFEDPP_BUILD_BENCH=ON && cmake --build --preset cpu
//   run:   OPENBLAS_NUM_THREADS=1 build/cpu/bench/fedpp_bench_client_step --benchmark_out=result.json
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "gpu/runtime.hpp"
#include "model/client_batch.hpp"
#include "model/local_update.hpp"

namespace {

using namespace fedpp;

/// Floating-point operations of an epoch's work on columns (M inducing points, D embedding size, S = 1), written beside
/// the code that does it; the M^3 work of a problem is below 1 % at 15,000 columns and left out.
double epoch_flops(double columns, double m, double d) {
  const double features = 4 * d + 2 * d * m + m * m;             // W x, h_z'h, L^-1 k
  const double moments = 2 * (m * m + 6 * m);                    // F V and three dot products, before and after q(v)
  const double accumulate = m * m + 2 * m;                       // lower half of V alpha V', V (beta - alpha nu)
  const double adjoint = 4 * m * m + 4 * m + 4 * d * m + 4 * d;  // B V, V alpha V', sums; h G', h_z G, encoder
  return columns * (features + moments + accumulate + adjoint);
}

model::Client pooled_client(int events, int nodes, int inducing, int width) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 100);
  data::Realisation r;
  for (int i = 0; i < events; ++i) r.events.push_back(uniform(random));
  std::sort(r.events.begin(), r.events.end());
  r.multiplicities.assign(events, 1.0);
  r.log_offsets.assign(events, 0.0);
  for (int q = 0; q < nodes; ++q) r.nodes.push_back(100.0 * (q + 0.5) / nodes);
  r.node_weights.assign(nodes, 100.0 / nodes * 50);
  r.span = {0, 100};
  config::Model model;
  model.width = width;
  return model::make_client(0, model::make_embedding(model, {}), {r}, inducing, 1.0);
}

void local_epoch(benchmark::State& state) {
  const int events = static_cast<int>(state.range(0)), inducing = static_cast<int>(state.range(1)),
            nodes = 4 * inducing;
  model::LocalOptions options;
  options.training.epochs = 1;
  auto client = pooled_client(events, nodes, inducing, 32);
  const auto prior = model::initial_prior(options.model, client.embedding, 1);
  const std::vector<model::ClientPoints> points{{&client, &client.training}};
  const model::ClientBatch batch(points, {prior}, 1, options.model.jitter, true, false);
  const gpu::Exec exec;
  auto adam = gpu::make_adam_state(batch.batch());
  Kokkos::deep_copy(adam.prior_sd, 1.0);
  std::uint32_t epoch = 0;
  for (auto _ : state) {
    model::local_epoch(exec, batch.batch(), batch.fields(), batch.encoder(), adam, {}, options, {1, 0, epoch++, 0}, 1);
    exec.fence();
  }
  state.counters["GFLOP/s"] = benchmark::Counter(epoch_flops(events + nodes, inducing, 32) * 1e-9,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// The vendor's DGEMM through the same seam: square, and in the shape of a tile's product B V.
void dgemm(benchmark::State& state) {
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  const int m = static_cast<int>(state.range(0)), n = static_cast<int>(state.range(1)), k = m;
  const gpu::Array<double> a("a", m * k), b("b", k * n), c("c", m * n);
  Kokkos::deep_copy(a, 0.5);
  Kokkos::deep_copy(b, 0.25);
  for (auto _ : state)
    Kokkos::parallel_for(
        "fedpp::bench::dgemm", gpu::team_policy(gpu::Exec(), 1), KOKKOS_LAMBDA(const gpu::Member& member) {
          gpu::BlasDense::gemm(member, gpu::Op::kNone, gpu::Op::kNone, m, n, k, 1.0, a.data(), m, b.data(), k, 0.0,
                               c.data(), m);
        });
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * m * n * k, benchmark::Counter::kIsIterationInvariantRate);
#else
  state.SkipWithError("the host's BLAS is not part of a device build");
#endif
}

BENCHMARK(dgemm)->Args({512, 512})->Args({50, 256})->Unit(benchmark::kMicrosecond);
BENCHMARK(local_epoch)
    ->ArgNames({"N", "M"})
    ->Args({15000, 50})
    ->Args({3500, 50})
    ->Args({15000, 100})
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const gpu::Runtime runtime(0, "auto");
  benchmark::AddCustomContext("backend", gpu::backend_description());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
