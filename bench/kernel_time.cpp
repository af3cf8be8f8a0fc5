#include "kernel_time.hpp"

#include <utility>
#include <vector>

#include "gpu/kokkos.hpp"
#include "machine.hpp"

namespace fedpp::bench::kernel_time {

namespace {

namespace tools = Kokkos::Tools::Experimental;

#if defined(KOKKOS_ENABLE_CUDA)
/// Events of the stream before and after each kernel.
class Clock {
 public:
  void open() { events_.emplace_back(record(), nullptr); }
  void close() { events_.back().second = record(); }
  double seconds() {
    double sum = 0;
    for (const auto& [before, after] : events_) {
      float milliseconds = 0;
      if (cudaEventElapsedTime(&milliseconds, before, after) == cudaSuccess) sum += 1e-3 * milliseconds;
      cudaEventDestroy(before);
      cudaEventDestroy(after);
    }
    events_.clear();
    return sum;
  }

 private:
  static cudaEvent_t record() {
    cudaEvent_t event = nullptr;
    if (cudaEventCreate(&event) == cudaSuccess) cudaEventRecord(event, gpu::Exec().cuda_stream());
    return event;
  }
  std::vector<std::pair<cudaEvent_t, cudaEvent_t>> events_;
};
#else
class Clock {
 public:
  void open() { start_ = now(); }
  void close() { sum_ += now() - start_; }
  double seconds() { return std::exchange(sum_, 0); }

 private:
  double start_ = 0, sum_ = 0;
};
#endif

Clock the_clock;

}  // namespace

void allow() {
#if KOKKOS_VERSION >= 40000
  tools::set_request_tool_settings_callback(
      [](std::uint32_t, Kokkos_Tools_ToolSettings* settings) { settings->requires_global_fencing = false; });
#endif
}

void start() {
  const auto open = [](const char*, const std::uint32_t, std::uint64_t*) { the_clock.open(); };
  const auto close = [](const std::uint64_t) { the_clock.close(); };
  tools::set_begin_parallel_for_callback(open);
  tools::set_begin_parallel_reduce_callback(open);
  tools::set_begin_parallel_scan_callback(open);
  tools::set_end_parallel_for_callback(close);
  tools::set_end_parallel_reduce_callback(close);
  tools::set_end_parallel_scan_callback(close);
}

double stop() {
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_end_parallel_for_callback(nullptr);
  tools::set_end_parallel_reduce_callback(nullptr);
  tools::set_end_parallel_scan_callback(nullptr);
  return the_clock.seconds();
}

}  // namespace fedpp::bench::kernel_time
