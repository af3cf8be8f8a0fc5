// One benchmark: times a function and reports it against the roofline.
#pragma once

#include <benchmark/benchmark.h>

#include "gpu/kokkos.hpp"
#include "machine.hpp"

namespace fedpp::bench {

/// Counters of a benchmark whose iteration costs `cost` and took `seconds` on the average: GFLOP/s, GB/s, the fractions
/// of the roofline and of the DGEMM rate, peak memory.
inline void report(benchmark::State& state, const gpu::Cost& cost, double seconds) {
  state.counters["GF"] = 1e-9 * cost.flops;
  state.counters["GB"] = 1e-9 * cost.bytes;
  state.counters["GFLOP/s"] = 1e-9 * cost.flops / seconds;
  state.counters["GB/s"] = 1e-9 * cost.bytes / seconds;
  state.counters["roofline"] = roofline_seconds(cost) / seconds;
  state.counters["dgemm"] = cost.flops / machine().flops / seconds;
  state.counters["arrays_MB"] = 1e-6 * memory::peak_arrays();
  state.counters["resident_MB"] = 1e-6 * memory::peak_resident();
}

/// Times f(exec), finished, in every iteration, after prepare(exec); once before that without the clock.
template <class F, class Prepare>
void measure(benchmark::State& state, const gpu::Cost& cost, const F& f, const Prepare& prepare) {
  const gpu::Exec exec;
  memory::restart();
  prepare(exec);
  f(exec);
  exec.fence();
  double total = 0;
  for (auto _ : state) {
    prepare(exec);
    exec.fence();
    const double start = now();
    f(exec);
    exec.fence();
    const double seconds = now() - start;
    state.SetIterationTime(seconds);
    total += seconds;
  }
  report(state, cost, total / static_cast<double>(state.iterations()));
}

template <class F>
void measure(benchmark::State& state, const gpu::Cost& cost, const F& f) {
  measure(state, cost, f, [](const gpu::Exec&) {});
}

}  // namespace fedpp::bench
