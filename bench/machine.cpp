#include "machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/dense.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cublas_v2.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace fedpp::bench {

namespace {
bool wall_time = false;
}

void take_wall_time() { wall_time = true; }

double now() {
  static const bool one_thread = gpu::kHostBackend && gpu::Exec().concurrency() == 1;
  if (one_thread && !wall_time) {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

/// Median seconds of nine calls after one that is not counted.
template <class F>
double median_seconds(const F& f) {
  std::vector<double> seconds;
  f();
  for (int k = 0; k < 9; ++k) {
    const double start = now();
    f();
    seconds.push_back(now() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

/// Numbers between -1 and 1 that follow no pattern: factors of zeros would cost a GPU less power than real ones, and
/// let it run at a higher clock.
template <class T = double>
gpu::Array<T> scattered(const std::string& label, gpu::Index n) {
  const gpu::Array<T> numbers(label, n);
  Kokkos::parallel_for(
      "fedpp::bench::scattered", Kokkos::RangePolicy<gpu::Exec>(0, n), FEDPP_KERNEL(const gpu::Index i) {
        const double turns = 0.6180339887498949 * static_cast<double>(i);
        numbers(i) = static_cast<T>(2 * (turns - static_cast<double>(static_cast<gpu::Index>(turns))) - 1);
      });
  return numbers;
}

#if defined(KOKKOS_ENABLE_CUDA)
cublasStatus_t vendor_product(cublasHandle_t handle, int n, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  return cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
}
cublasStatus_t vendor_product(cublasHandle_t handle, int n, const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
}
#endif

/// Operations a second of products of square matrices of T.
template <class T>
double product_rate(const gpu::Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  const int n = 4096;
  const auto a = scattered<T>("a", n * n), b = scattered<T>("b", n * n), c = scattered<T>("c", n * n);
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cublasSetStream(handle, exec.cuda_stream()) != 0)
    throw std::runtime_error("cuBLAS cannot be started");
  const double seconds = median_seconds([&] {
    if (vendor_product(handle, n, a.data(), b.data(), c.data()) != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error("a product of cuBLAS failed");
    exec.fence();
  });
  cublasDestroy(handle);
  return 2.0 * n * n * n / seconds;
#else
#if defined(FEDPP_DEVICE_BACKEND)
  using Dense = gpu::TeamDense;  // of another device: no vendor's
#else
  using Dense = gpu::BlasDense;
#endif
  const int n = 512, square = n * n, copies = std::max<int>(1, exec.concurrency() / gpu::team_size());
  const auto a = scattered<T>("a", square), b = scattered<T>("b", square);
  const gpu::Array<T> c("c", static_cast<std::size_t>(square) * copies);
  const double seconds = median_seconds([&] {
    Kokkos::parallel_for(
        "fedpp::bench::product", gpu::team_policy(exec, copies), FEDPP_KERNEL(const gpu::Member& member) {
          const auto own = static_cast<gpu::Index>(member.league_rank()) * square;
          Dense::product(member, 1, gpu::Matrix(a.data(), n, n), gpu::Matrix(b.data(), n, n), 0,
                         gpu::Matrix(c.data() + own, n, n));
        });
    exec.fence();
  });
  return 2.0 * n * n * n * copies / seconds;
#endif
}

double copy_rate(const gpu::Exec& exec) {
  const gpu::Index n = gpu::kHostBackend ? 1 << 24 : 1 << 27;  // far more than a cache holds
  const auto from = scattered("from", n), to = scattered("to", n);
  const double seconds = median_seconds([&] {
    Kokkos::parallel_for(
        "fedpp::bench::copy", Kokkos::RangePolicy<gpu::Exec>(exec, 0, n),
        FEDPP_KERNEL(const gpu::Index i) { to(i) = from(i); });
    exec.fence();
  });
  return 2.0 * sizeof(double) * static_cast<double>(n) / seconds;
}

}  // namespace

const Machine& machine() {
  static const Machine measured = [] {
    const gpu::Exec exec;
    return Machine{product_rate<double>(exec), product_rate<float>(exec), copy_rate(exec)};
  }();
  return measured;
}

double roofline_seconds(const gpu::Cost& cost, gpu::Precision precision) {
  return std::max(cost.flops / machine().flops_in(precision), cost.bytes / machine().bytes);
}

std::string device_name() {
#if defined(KOKKOS_ENABLE_CUDA)
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, Kokkos::Cuda().cuda_device()) == cudaSuccess) return properties.name;
#endif
  std::string name = "unknown", family, model;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {  // an empty line ends the first processor's
    const auto colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const auto key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1), value = line.substr(colon + 2);
    if (key == "model name") name = value;
    if (key == "cpu family") family = value;
    if (key == "model") model = value;
  }
  return name + (family.empty() ? "" : ", family " + family + " model " + model);
}

namespace memory {

namespace {
double held = 0, most = 0;
}

void install() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_allocate_data_callback([](auto, const char*, const void*, std::uint64_t bytes) {
    held += static_cast<double>(bytes);
    most = std::max(most, held);
  });
  tools::set_deallocate_data_callback(
      [](auto, const char*, const void*, std::uint64_t bytes) { held -= static_cast<double>(bytes); });
}

void restart() {
  most = held;
#if defined(__GLIBC__)
  malloc_trim(0);  // what earlier benchmarks freed is kept for the next arrays, and would count as this one's
#endif
  std::ofstream("/proc/self/clear_refs") << "5";  // Linux: the peak starts anew
}

double peak_arrays() { return most; }

double peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return 1024 * std::atof(line.c_str() + 6);
  return 0;
}

double in_use_on_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  std::size_t free = 0, all = 0;
  if (cudaMemGetInfo(&free, &all) == cudaSuccess) return static_cast<double>(all - free);
#endif
  return 0;
}

}  // namespace memory
}  // namespace fedpp::bench
