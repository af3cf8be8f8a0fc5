// The one header that spells execution and memory spaces, and bridges Kokkos 3.4 (the floor) to 5.x.
#pragma once

#if defined(FEDPP_HOST_ONLY)
#error "a layer that does without Kokkos (cmake/FedppTargets.cmake) reads a header that needs it"
#endif

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>

#include "gpu/index.hpp"
#include "gpu/region.hpp"

#if defined(__FAST_MATH__)
#error \
    "fedpp's bits and its checks for what is not a number do not survive fast-math: build without -ffast-math, -Ofast or -fp-model=fast"
#endif

/// Kernels run on a device with memory of its own; of the tests' emulated one (tests/emulated_device), too.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_EMULATED_DEVICE)
#define FEDPP_DEVICE_BACKEND
#endif

namespace fedpp::gpu {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class T>
using Array = Kokkos::View<T*, Memory>;  ///< device array, one-dimensional: ragged extents carry offsets

using Policy = Kokkos::TeamPolicy<Exec>;
using Member = Policy::member_type;

/// True where kernels run on the host and may call its BLAS and LAPACK.
inline constexpr bool kHostBackend =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible && std::is_same_v<Memory, Kokkos::HostSpace>;

/// Mathematical functions that host and device share (Kokkos 3.4 has them in another namespace than 4.x).
namespace math {
using std::cos;
using std::exp;
using std::fabs;
using std::fmax;
using std::fmin;
using std::log;
using std::log1p;
using std::sin;
using std::sqrt;
using std::tanh;
}  // namespace math

/// "fedpp::component::step"_label: the name of a kernel, made once, so that a launch allocates nothing.
template <std::size_t N>
struct LabelText {
  char text[N];
  consteval LabelText(const char (&literal)[N]) {  // NOLINT: a literal is one
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
};
template <LabelText T>
const std::string& operator""_label() {
  static const std::string label(T.text);
  return label;
}

/// The lambda of a kernel. A device gets copies of the extents and arrays that it names. A host's launch is over when
/// it returns and may read the caller's: copying a hundred reference-counted views costs as much as small work itself.
#if defined(FEDPP_DEVICE_BACKEND)
#define FEDPP_KERNEL KOKKOS_LAMBDA
#else
#define FEDPP_KERNEL [&]
#endif

/// Threads of a team: 1 on a host (a problem's tile is one thread's work), a power of two of at least a warp on a
/// device. The environment variable FEDPP_TEAM_SIZE overrides it; the tests use it to find races.
int team_size();

/// Where a team's scratch lies: 0 is a device's shared memory, up to a size that leaves a multiprocessor room for three
/// teams, 1 its global memory, and a host's.
struct TeamScratch {
  Index bytes;
  int level;
};
TeamScratch team_scratch(Index doubles);

/// Bytes of scratch that a team can have: without a limit on hosts.
Index most_team_scratch();

/// Teams that have scratch at a time.
int concurrent_teams();

/// A policy of `league` teams with `scratch` doubles of scratch each (gpu/team.hpp).
Policy team_policy(const Exec& exec, int league, Index scratch = 0);

/// Host vector to device array, one of its length or a new one, and back (synchronous; never inside a local epoch).
template <class T, class Vector>
void copy_to(const Array<T>& device, const Vector& host) {
  Kokkos::deep_copy(device,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()));
}
template <class T, class Vector>
Array<T> to_device(const std::string& label, const Vector& host) {
  Array<T> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), host.size());
  copy_to(device, host);
  return device;
}
template <class T, class Vector>
void to_host(const Array<T>& device, Vector& host) {
  host.resize(device.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()), device);
}

}  // namespace fedpp::gpu
