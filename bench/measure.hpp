// One benchmark: times a function and reports it against the roofline.
#pragma once

#include <benchmark/benchmark.h>

#include "gpu/kokkos.hpp"
#include "kernel_time.hpp"
#include "machine.hpp"

namespace fedpp::bench {

/// Counters of a benchmark whose iteration costs `cost` and took `seconds` on the average: GFLOP/s, GB/s, the fractions
/// of the roofline and of the DGEMM rate, peak memory. Rates only of what is counted: a spread of zeros is no number.
inline void report(benchmark::State& state, const gpu::Cost& cost, gpu::Precision precision, double seconds) {
  if (cost.flops > 0) {
    state.counters["GF"] = 1e-9 * cost.flops;
    state.counters["GFLOP/s"] = 1e-9 * cost.flops / seconds;
    state.counters["dgemm"] = cost.flops / machine().flops / seconds;
  }
  state.counters["GB"] = 1e-9 * cost.bytes;
  state.counters["GB/s"] = 1e-9 * cost.bytes / seconds;
  state.counters["roofline"] = roofline_seconds(cost, precision) / seconds;
  state.counters["arrays_MB"] = 1e-6 * memory::peak_arrays();
  state.counters["resident_MB"] = 1e-6 * memory::peak_resident();
  if (const double used = memory::in_use_on_device(); used > 0) state.counters["device_MB"] = 1e-6 * used;
}

/// The part of a piece of work's seconds that its kernels take.
template <class F>
double share_of_kernels(const F& f) {
  kernel_time::start();
  const double start = now();
  f();
  const double seconds = now() - start;
  return kernel_time::stop() / seconds;
}

/// Times f(exec), finished, in every iteration, after prepare(exec); once before that without the clock, and once after it
/// with an eye on the kernels.
template <class F, class Prepare>
void measure(benchmark::State& state, const gpu::Cost& cost, const F& f, const Prepare& prepare,
             gpu::Precision precision = gpu::Precision::kDouble) {
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
  prepare(exec);
  exec.fence();
  const double busy = share_of_kernels([&] {
    f(exec);
    exec.fence();
  });
  if (busy > 0) state.counters["busy"] = busy;
  report(state, cost, precision, total / static_cast<double>(state.iterations()));
}

template <class F>
void measure(benchmark::State& state, const gpu::Cost& cost, const F& f,
             gpu::Precision precision = gpu::Precision::kDouble) {
  measure(state, cost, f, [](const gpu::Exec&) {}, precision);
}

}  // namespace fedpp::bench
