// Greedy minimisation of the structural entropy of K dense clients, and its growth with K.
//   run: build/cpu/bench/fedpp_bench_structural_entropy
#include <benchmark/benchmark.h>

#include <random>

#include "structural_entropy/entropy.hpp"

namespace {

using namespace fedpp::structural_entropy;

/// Every pair has an edge. `groups`: planted, 0.95 within and 0.1 between, with noise; 0: all similarities equal
/// (ties).
void minimise_dense(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0)), groups = static_cast<std::size_t>(state.range(1));
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<double> similarity(n * n, 0.5);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n && groups > 0; ++j)
      similarity[i * n + j] = similarity[j * n + i] = (i % groups == j % groups ? 0.95 : 0.1) + noise(random);
  const WeightedGraph graph(similarity, n);
  for (auto _ : state) benchmark::DoNotOptimize(minimise(graph));
}

}  // namespace

BENCHMARK(minimise_dense)
    ->ArgNames({"K", "groups"})
    ->ArgsProduct({{250, 500, 1000, 2000, 4000}, {4}})
    ->ArgsProduct({{250, 500, 1000, 2000, 4000}, {0}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_MAIN();
