// Exact sums of uploads (theory 2.2), as an aggregation adds them: 2P terms of every client.
#include <random>

#include "measure.hpp"
#include "mpi/exact_sum.hpp"

namespace {

using namespace fedpp;

void exact_sums(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const int words = static_cast<int>(state.range(1)), clients = 200;
  const auto format = words == 1 ? mpi::FixedPoint::one_word(40) : mpi::FixedPoint::two_words();
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> terms(size);
  for (double& x : terms) x = normal(random);
  // An addition a term; reads the term, reads and writes the sum, which stays in the cache.
  bench::measure(state, {1.0 * clients * size, 8.0 * clients * size}, [&](const gpu::Exec&) {
    mpi::ExactSums sums(size, format, clients);
    for (int c = 0; c < clients; ++c)
      for (std::size_t j = 0; j < size; ++j) sums.add(j, terms[j]);
    benchmark::DoNotOptimize(sums.value(0));
  });
}

BENCHMARK(exact_sums)
    ->ArgNames({"size", "words"})
    ->Args({132, 1})
    ->Args({132, 2})
    ->Args({25'000, 1})
    ->Args({25'000, 2})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
