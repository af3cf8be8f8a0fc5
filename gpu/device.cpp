#include "gpu/device.hpp"

#include <sched.h>

#include <set>
#include <stdexcept>

#include "gpu/kokkos.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace fedpp::gpu {

namespace {

/// The finaliser of SplitMix64: every bit of the index reaches every bit of the word.
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

KOKKOS_INLINE_FUNCTION std::uint64_t pattern(std::uint64_t i) { return mixed(i + 0x9e3779b97f4a7c15ull); }

std::string describe() {
#if defined(KOKKOS_ENABLE_CUDA)
  int device = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return "a GPU that does not say which";
  char bus[32] = "?";
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess) bus[0] = '?';
  return std::string(properties.name) + ", " + device_identity() + ", PCI " + bus;
#else
  return Exec::name();
#endif
}

}  // namespace

int device_count() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
#endif
  return 0;
}

void require_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  throw std::runtime_error(
      "no GPU can be used on this node (" +
      std::string(status == cudaSuccess ? "it shows none" : cudaGetErrorString(status)) +
      "): start the run on a node with a GPU (srun --gpus-per-task=1), or take a build of the preset cpu");
#endif
}

std::string device_identity() {
#if defined(KOKKOS_ENABLE_CUDA)
  int device = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) return "";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string uuid = "GPU-";
  for (int k = 0; k < 16; ++k) {
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[k]);
    if (k == 4 || k == 6 || k == 8 || k == 10) uuid += '-';
    uuid += kDigits[byte >> 4];
    uuid += kDigits[byte & 15];
  }
  return uuid;
#else
  return "";
#endif
}

double free_device_mb() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return 1e-6 * static_cast<double>(free);
#endif
  return 4096;  // unknown: a share that every device of a cluster has
}

std::vector<int> usable_cores() {
  std::set<int> cores;
  const auto add_this_threads = [&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.insert(core);
  };
#if defined(KOKKOS_ENABLE_OPENMP)
#pragma omp parallel
#pragma omp critical
#endif
  add_this_threads();
  return {cores.begin(), cores.end()};
}

std::string fault_of(const std::vector<std::uint64_t>& words) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != ~pattern(i) && wrong++ == 0) first = i;
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(words.size()) +
         " words of device memory came back wrong, the first at " + std::to_string(first);
}

Device examine_device(std::int64_t words) {
  std::vector<std::uint64_t> host(static_cast<std::size_t>(words));
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = pattern(i);
  const auto buffer = to_device<std::uint64_t>("fedpp::device::self_test", host);
  Kokkos::parallel_for(
      "fedpp::device::invert", Kokkos::RangePolicy<Exec>(0, words),
      FEDPP_KERNEL(const Index i) { buffer(i) = ~buffer(i); });
  to_host(buffer, host);
  return {describe(), fault_of(host), kHostBackend ? static_cast<int>(Exec().concurrency()) : 1};
}

}  // namespace fedpp::gpu
