// The one header that spells execution and memory spaces, and bridges Kokkos 3.4 (the floor) to 5.x.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "gpu/region.hpp"

namespace fedpp::gpu {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Index = std::int64_t;

template <class T>
using Array = Kokkos::View<T*, Memory>;  ///< device array, one-dimensional: ragged extents carry offsets
template <class T>
using ConstArray = Kokkos::View<const T*, Memory>;
template <class T>
using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;

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

/// Threads of a team: 1 on a host (a problem's tile is one thread's work), a power of two of at least a warp on a
/// device. The environment variable FEDPP_TEAM_SIZE overrides it on hosts; the tests use it to find races.
int team_size();

/// A policy of `league` teams with `scratch` doubles of level-1 scratch each.
Policy team_policy(const Exec& exec, int league, Index scratch = 0);

/// Before a loop whose iterations do not read what others write, so that a host compiler vectorises it without asking.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__clang__)
#define FEDPP_INDEPENDENT _Pragma("GCC ivdep")
#else
#define FEDPP_INDEPENDENT
#endif

/// Calls f(i) for i in [0, n), shared among the threads of a team: contiguous chunks on a host (so that the compiler
/// vectorises the body), neighbouring threads on neighbouring i on a device. No barrier.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for(const Member& member, Index n, const F& f) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  for (Index i = member.team_rank(); i < n; i += member.team_size()) f(i);
#else
  const Index begin = n * member.team_rank() / member.team_size();
  const Index end = n * (member.team_rank() + 1) / member.team_size();
  FEDPP_INDEPENDENT
  for (Index i = begin; i < end; ++i) f(i);
#endif
}

/// Calls f(row, column) over a column-major [rows x columns] block; see team_for.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for_2d(const Member& member, int rows, int columns, const F& f) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  const Index n = static_cast<Index>(rows) * columns;
  for (Index i = member.team_rank(); i < n; i += member.team_size())
    f(static_cast<int>(i % rows), static_cast<int>(i / rows));
#else
  const int begin = static_cast<int>(static_cast<Index>(columns) * member.team_rank() / member.team_size());
  const int end = static_cast<int>(static_cast<Index>(columns) * (member.team_rank() + 1) / member.team_size());
  for (int c = begin; c < end; ++c) {
    FEDPP_INDEPENDENT
    for (int r = 0; r < rows; ++r) f(r, c);
  }
#endif
}

/// Sum of f(i) over [begin, end) by one thread: on hosts in eight lanes, which vector registers hold, added pairwise at
/// the end. (A sum in one chain waits for every addition: the compiler may not reorder it.)
template <class F>
KOKKOS_INLINE_FUNCTION double lane_sum(Index begin, Index end, const F& f) {
  double rest = 0;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  for (Index i = begin; i < end; ++i) rest += f(i);
  return rest;
#else
  constexpr int kLanes = 8;
  double lane[kLanes] = {};
  for (; begin + kLanes <= end; begin += kLanes)
    for (int l = 0; l < kLanes; ++l) lane[l] += f(begin + l);
  for (; begin < end; ++begin) rest += f(begin);
  return (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))) + rest;
#endif
}

/// Sum of f(i) over [0, n), known to all threads of the team; its order is fixed for a team size.
template <class F>
KOKKOS_INLINE_FUNCTION double team_sum(const Member& member, Index n, const F& f) {
  double sum = 0;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  Kokkos::parallel_reduce(
      Kokkos::TeamThreadRange(member, n), [&](const Index i, double& partial) { partial += f(i); }, sum);
#else
  const Index begin = n * member.team_rank() / member.team_size();
  const Index end = n * (member.team_rank() + 1) / member.team_size();
  const double own = lane_sum(begin, end, f);
  if (member.team_size() == 1) return own;
  Kokkos::parallel_reduce(
      Kokkos::TeamThreadRange(member, member.team_size()), [&](const int, double& partial) { partial += own; }, sum);
#endif
  return sum;
}

/// y = A x, A: [rows x columns] column-major, x(c) given by a function; sums in double, whatever A's numbers are. A
/// thread owns rows, so no barrier is needed for y to be right; none follows.
template <class T, class X>
KOKKOS_INLINE_FUNCTION void team_matrix_vector(const Member& member, int rows, int columns, const T* a, int lda,
                                               const X& x, double* y) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  for (int r = member.team_rank(); r < rows; r += member.team_size()) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += a[r + static_cast<Index>(c) * lda] * x(c);
    y[r] = sum;
  }
#else
  const int begin = static_cast<int>(static_cast<Index>(rows) * member.team_rank() / member.team_size());
  const int end = static_cast<int>(static_cast<Index>(rows) * (member.team_rank() + 1) / member.team_size());
  for (int r = begin; r < end; ++r) y[r] = 0;
  for (int c = 0; c < columns; ++c) {
    const T* column = a + static_cast<Index>(c) * lda;
    const double factor = x(c);
    FEDPP_INDEPENDENT
    for (int r = begin; r < end; ++r) y[r] += column[r] * factor;
  }
#endif
}

/// Scratch of a team, handed out piece by piece.
class Scratch {
 public:
  KOKKOS_INLINE_FUNCTION Scratch(const Member& member, Index doubles)
      : next_(doubles > 0 ? static_cast<double*>(member.team_scratch(1).get_shmem(doubles * sizeof(double)))
                          : nullptr) {}
  KOKKOS_INLINE_FUNCTION double* take(Index doubles) {
    double* piece = next_;
    next_ += doubles;
    return piece;
  }

 private:
  double* next_;
};

/// Host vector to device array and back (synchronous; never inside a local epoch).
template <class T, class Vector>
Array<T> to_device(const std::string& label, const Vector& host) {
  Array<T> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), host.size());
  Kokkos::deep_copy(device,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()));
  return device;
}
template <class T, class Vector>
void to_host(const Array<T>& device, Vector& host) {
  host.resize(device.extent(0));
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()), device);
}

}  // namespace fedpp::gpu
