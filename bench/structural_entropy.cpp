// Greedy minimisation of the structural entropy of K dense clients, and its growth with K.
#include <random>

#include "measure.hpp"
#include "structural_entropy/entropy.hpp"

namespace {

using namespace fedpp;
using namespace fedpp::structural_entropy;

/// Every pair has an edge. `groups`: planted, 0.95 within and 0.1 between, with noise; 0: all similarities equal
/// (ties). No operations are counted; all similarities are read once.
void minimise_dense(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0)), groups = static_cast<std::size_t>(state.range(1));
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<double> similarity(n * n, 0.5);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n && groups > 0; ++j)
      similarity[i * n + j] = similarity[j * n + i] = (i % groups == j % groups ? 0.95 : 0.1) + noise(random);
  const WeightedGraph graph(similarity, n);
  bench::measure(state, {0, 8.0 * static_cast<double>(n * n)},
                 [&](const gpu::Exec&) { benchmark::DoNotOptimize(minimise(graph)); });
}

void graphs(benchmark::internal::Benchmark* b) {
  b->ArgNames({"K", "groups"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const int groups : {4, 0})
    for (const int clients : {250, 500, 1000, 2000, 4000}) b->Args({clients, groups});
}

const auto* benchmarks = benchmark::RegisterBenchmark("structural_entropy", minimise_dense)->Apply(graphs);

}  // namespace
