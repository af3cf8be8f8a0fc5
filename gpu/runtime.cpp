#include "gpu/runtime.hpp"

#include <cstdlib>
#include <optional>

#include "gpu/dense.hpp"
#include "gpu/device.hpp"
#include "gpu/vendor_blas.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace fedpp::gpu {

namespace {

/// A round's arrays are freed at its end and wanted again by the next: the host's allocator keeps their pages, which
/// the system would otherwise take back, clear and hand out anew (a tenth of a round).
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

double free_at_start_mb = 0;
int ranks_of_device = 1;

/// The device of this rank; none: Kokkos is to choose. It does by the local rank where the user lists devices for it, since
/// numbers then count in that list.
std::optional<int> device_of(int node_rank) {
  const int devices = device_count();
  if (devices == 0 || std::getenv("KOKKOS_VISIBLE_DEVICES") != nullptr) return std::nullopt;
  return node_rank % devices;
}

}  // namespace

Runtime::Runtime(int node_rank, std::string_view dense) : mine_(!Kokkos::is_initialized()) {
  if (mine_) {
    require_device();
#if KOKKOS_VERSION >= 30700
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if (const auto device = device_of(node_rank)) settings.set_device_id(*device);
    Kokkos::initialize(settings);
#else
    Kokkos::InitArguments arguments;
    arguments.disable_warnings = true;
    if (const auto device = device_of(node_rank)) arguments.device_id = *device;
    Kokkos::initialize(arguments);
#endif
  }
  free_at_start_mb = free_device_mb();
  choose_dense(dense);
  keep_freed_memory();
}

Runtime::~Runtime() {
  if (mine_) Kokkos::finalize();
}

bool on_host() { return kHostBackend; }

double workspace_mb(double asked) {
  if (asked > 0) return asked;
  return kHostBackend ? 8.0 * Exec().concurrency() : 0.25 * free_at_start_mb / ranks_of_device;
}

void share_device(int ranks) { ranks_of_device = ranks; }

std::string backend_description() {
  const int threads = static_cast<int>(Exec().concurrency());
  return std::string(Exec::name()) +
         (kHostBackend ? ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") : "") +
         (dense() == Dense::kBlas ? ", " + vendor_blas() : ", team kernels");
}

}  // namespace fedpp::gpu
