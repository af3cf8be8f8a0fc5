#include "gpu/runtime.hpp"

#include "gpu/dense.hpp"

namespace fedpp::gpu {

Runtime::Runtime(int node_rank, const std::string& dense) : mine_(!Kokkos::is_initialized()) {
  if (mine_) {
#if KOKKOS_VERSION >= 30700
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if constexpr (!kHostBackend) {
      settings.set_map_device_id_by("mpi_rank");  // the launcher's node-local rank
      (void)node_rank;
    }
    Kokkos::initialize(settings);
#else
    Kokkos::InitArguments arguments;
    arguments.disable_warnings = true;
    if (!kHostBackend) arguments.device_id = node_rank;
    Kokkos::initialize(arguments);
#endif
  }
  choose_dense(dense);
}

Runtime::~Runtime() {
  if (mine_) Kokkos::finalize();
}

std::string backend_description() {
  const int threads = static_cast<int>(Exec().concurrency());
  return std::string(Exec::name()) +
         (kHostBackend ? ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") : "") +
         (dense() == Dense::kBlas ? ", vendor BLAS" : ", team kernels");
}

}  // namespace fedpp::gpu
