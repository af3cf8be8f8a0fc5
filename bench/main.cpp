// fedpp_bench: kernels and whole rounds against what the machine can do (bench/README.md).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "config/version.hpp"
#include "gpu/kokkos.hpp"
#include "gpu/runtime.hpp"
#include "gpu/vendor_blas.hpp"
#include "kernel_time.hpp"
#include "machine.hpp"
#include "mpi/communicator.hpp"
#include "mpi/environment.hpp"
#include "rounds.hpp"

namespace {

using namespace fedpp;

/// Ranks other than 0 say nothing, on the terminal or in a file; collectives of the rounds need them all the same.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

std::vector<char*> without_file(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  std::erase_if(words, [](const char* word) { return std::strncmp(word, "--benchmark_out=", 16) == 0; });
  return words;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string kokkos_configuration() {
  return "Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100) + ", " + gpu::Exec::name() + ", teams of " +
         std::to_string(gpu::team_size());
}

}  // namespace

int main(int argc, char** argv) {
  std::string command;
  for (int k = 0; k < argc; ++k) command += (k > 0 ? " " : "") + std::string(k > 0 ? argv[k] : "fedpp_bench");
  mpi::Environment environment(argc, argv);
  return environment.guard([&] {
    mpi::Communicator world = mpi::Communicator::world();
    bench::kernel_time::allow();
    const gpu::Runtime runtime(world.node_rank(), "auto");
    if (world.size() > 1) bench::take_wall_time();
    bench::memory::install();
    auto words = world.is_root() ? std::vector<char*>(argv, argv + argc) : without_file(argc, argv);
    int count = static_cast<int>(words.size());
    benchmark::Initialize(&count, words.data());
    if (benchmark::ReportUnrecognizedArguments(count, words.data())) return 2;
    bench::register_rounds(world);
    benchmark::AddCustomContext("command", command);
    benchmark::AddCustomContext("git", git_revision() + std::string(git_dirty() ? "-dirty" : ""));
    benchmark::AddCustomContext("device", bench::device_name());
    benchmark::AddCustomContext("backend", gpu::backend_description());
    benchmark::AddCustomContext("kokkos", kokkos_configuration());
    benchmark::AddCustomContext("threads", std::to_string(gpu::Exec().concurrency()));
    benchmark::AddCustomContext("compiler", FEDPP_BENCH_COMPILER);
    benchmark::AddCustomContext("ranks", std::to_string(world.size()));
    // All rates that are relative to DGEMM would look too good.
    if (const auto remedy = gpu::vendor_blas_remedy(512); !remedy.empty() && gpu::on_host() && world.is_root())
      std::fprintf(stderr, "fedpp_bench: %s\n", remedy.c_str());
    benchmark::AddCustomContext("dgemm_GFLOP/s", number(1e-9 * bench::machine().flops));
    benchmark::AddCustomContext("sgemm_GFLOP/s", number(1e-9 * bench::machine().single_flops));
    benchmark::AddCustomContext("copy_GB/s", number(1e-9 * bench::machine().bytes));
    Silent silent;
    if (world.is_root())
      benchmark::RunSpecifiedBenchmarks();
    else
      benchmark::RunSpecifiedBenchmarks(&silent);
    benchmark::Shutdown();
    return 0;
  });
}
