// What the threads of a team do together: loops over vectors and matrices, sums, scratch. Made for both kinds of team:
// a device's, whose neighbours should touch neighbouring numbers, and a host's single thread, whose inner loops the
// compiler vectorises.
#pragma once

#include "gpu/kokkos.hpp"
#include "gpu/matrix.hpp"

namespace fedpp::gpu {

/// Threads take neighbouring items in turn on a device, whose warps read neighbouring numbers together; on a host each
/// takes a chunk, whose loop the compiler vectorises.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(KOKKOS_ENABLE_EMULATED_DEVICE)
#define FEDPP_DEVICE_CODE
#endif

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
#if defined(FEDPP_DEVICE_CODE)
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
#if defined(FEDPP_DEVICE_CODE)
  if (rows <= 0) return;
  const int down = member.team_size() % rows, on = member.team_size() / rows;  // a thread's step, without a division
  int r = member.team_rank() % rows, c = member.team_rank() / rows;
  while (c < columns) {
    f(r, c);
    r += down;
    c += on;
    if (r >= rows) {
      r -= rows;
      ++c;
    }
  }
#else
  const int begin = static_cast<int>(static_cast<Index>(columns) * member.team_rank() / member.team_size());
  const int end = static_cast<int>(static_cast<Index>(columns) * (member.team_rank() + 1) / member.team_size());
  for (int c = begin; c < end; ++c) {
    FEDPP_INDEPENDENT
    for (int r = 0; r < rows; ++r) f(r, c);
  }
#endif
}

#if defined(FEDPP_DEVICE_CODE)
/// The value of the thread of the warp whose number differs in the bits of `other`. All threads of the warp that `mask`
/// has must call.
KOKKOS_INLINE_FUNCTION double shuffle_xor(unsigned mask, double value, int other) {
#if defined(__CUDA_ARCH__)
  return __shfl_xor_sync(mask, value, other);
#elif defined(KOKKOS_ENABLE_EMULATED_DEVICE)
  return emulated_device::shuffle_xor(mask, value, other);
#else
  return __shfl_xor(value, other);
#endif
}

/// What the threads of the warp that `mask` has did to memory before is known to each of them afterwards; all of them
/// must call. A shuffle does not promise that.
KOKKOS_INLINE_FUNCTION void warp_barrier([[maybe_unused]] unsigned mask) {
#if defined(__CUDA_ARCH__)
  __syncwarp(mask);
#elif defined(KOKKOS_ENABLE_EMULATED_DEVICE)
  emulated_device::warp_barrier(mask);
#else
  __threadfence_block();  // a wavefront's threads go in step
#endif
}
#endif

/// Calls f(column)(row) over a [rows x columns] block: what a column's rows share, pointers say, is found once a column
/// on a host; a device's threads share the rows of all columns. No barrier.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for_columns(const Member& member, int rows, int columns, const F& f) {
#if defined(FEDPP_DEVICE_CODE)
  team_for_2d(member, rows, columns, [&](int r, int c) { f(c)(r); });
#else
  team_for(member, columns, [&](Index c) {
    const auto row = f(static_cast<int>(c));
    FEDPP_INDEPENDENT
    for (int r = 0; r < rows; ++r) row(r);
  });
#endif
}

/// Calls f(column)(row) for the rows from the diagonal on of a square matrix; see team_for_columns.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for_lower(const Member& member, int n, const F& f) {
#if defined(FEDPP_DEVICE_CODE)
  team_for_2d(member, n, n, [&](int r, int c) {
    if (r >= c) f(c)(r);
  });
#else
  team_for(member, n, [&](Index i) {
    const int c = static_cast<int>(i);
    const auto row = f(c);
    FEDPP_INDEPENDENT
    for (int r = c; r < n; ++r) row(r);
  });
#endif
}

/// Entries of an array that one team adds up: all of a small matrix on a host, few on a device, where many teams share
/// them.
inline constexpr Index kSlab = kHostBackend ? 4096 : 256;
inline int slabs(Index entries) { return static_cast<int>((entries + kSlab - 1) / kSlab); }

/// Calls f(i) for the i of [0, n) that are in a slab; see team_for.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for_slab(const Member& member, Index slab, Index n, const F& f) {
  const Index begin = slab * kSlab, end = begin + kSlab < n ? begin + kSlab : n;
  team_for(member, end - begin, [&](Index i) { f(begin + i); });
}

/// to[at] = part(0)[at] + part(1)[at] + ... in this order for begin <= at < end; nullptr is a part that is left out.
/// The first part may be `to` itself. An entry belongs to one thread; no barrier.
template <class P>
KOKKOS_INLINE_FUNCTION void team_add_parts(const Member& member, Index begin, Index end, int parts, const P& part,
                                           double* to) {
#if defined(FEDPP_DEVICE_CODE)
  constexpr int kAhead = 8;  // addends under way at a time: an addition waits for its own, not for memory each time
  for (Index at = begin + member.team_rank(); at < end; at += member.team_size()) {
    double sum = 0;
    bool first = true;
    for (int k = 0; k < parts; k += kAhead) {
      double addend[kAhead];
      bool there[kAhead];
      for (int j = 0; j < kAhead; ++j) {
        const double* from = k + j < parts ? part(k + j) : nullptr;
        there[j] = from != nullptr;
        addend[j] = there[j] ? from[at] : 0;
      }
      for (int j = 0; j < kAhead; ++j) {
        if (!there[j]) continue;
        sum = first ? addend[j] : sum + addend[j];
        first = false;
      }
    }
    to[at] = sum;
  }
#else
  bool first = true;
  for (int k = 0; k < parts; ++k)  // each is read once, from front to back
    if (const double* from = part(k)) {
      if (!first || from != to)
        team_for(member, end - begin, [=](Index i) {
          const Index at = begin + i;
          to[at] = first ? from[at] : to[at] + from[at];
        });
      first = false;
    }
  if (first) team_for(member, end - begin, [=](Index i) { to[begin + i] = 0; });
#endif
}

/// Sum of f(i) over [begin, end) by one thread: on hosts in eight lanes, which vector registers hold, added pairwise at
/// the end. (A sum in one chain waits for every addition: the compiler may not reorder it.) I: the index as f takes it,
/// since of a converted one the compiler does not see that lanes stand side by side.
template <class I, class F>
KOKKOS_INLINE_FUNCTION double lane_sum(I begin, I end, const F& f) {
  double rest = 0;
#if defined(FEDPP_DEVICE_CODE)
  for (I i = begin; i < end; ++i) rest += f(i);
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
#if defined(FEDPP_DEVICE_CODE)
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

/// Calls store(c, sums) for every column, sums[k] being the k-th function's sum f(r, c) over the rows. On a host a
/// thread sums its columns by lane_sum; on a device eight neighbouring threads share one, so that they read
/// neighbouring rows. All threads must call. No barrier.
template <class S, class... F>
KOKKOS_INLINE_FUNCTION void team_column_sums(const Member& member, int rows, int columns, const S& store,
                                             const F&... f) {
#if defined(FEDPP_DEVICE_CODE)
  constexpr int kLanes = 8;
  const int lane = member.team_rank() % kLanes, group = member.team_rank() / kLanes;
  for (int first = 0; first < columns; first += member.team_size() / kLanes) {  // as often for every thread of a warp
    const int c = first + group;
    double sums[sizeof...(F)] = {};
    if (c < columns)
      for (int r = lane; r < rows; r += kLanes) {
        int k = 0;
        ((sums[k++] += f(r, c)), ...);
      }
    for (int other = kLanes / 2; other > 0; other /= 2)
      for (double& sum : sums) sum += shuffle_xor(0xffffffffu, sum, other);
    if (lane == 0 && c < columns) store(c, sums);
  }
#else
  team_for(member, columns, [&](Index i) {
    const int c = static_cast<int>(i);
    const double sums[] = {lane_sum(0, rows, [&](int r) { return f(r, c); })...};
    store(c, sums);
  });
#endif
}

/// to(., group(c)) += x(., c) for column after column; to: a column for each group. No barrier.
template <class G>
KOKKOS_INLINE_FUNCTION void team_add_by_group(const Member& member, Matrix<const double> x, const G& group,
                                              Matrix<double> to) {
#if defined(FEDPP_DEVICE_CODE)
  // Rows are few: the first column of a group adds for all of them.
  team_for_2d(member, x.rows, x.columns, [&](int r, int c) {
    const int own = group(c);
    for (int before = 0; before < c; ++before)
      if (group(before) == own) return;
    double sum = to(r, own);
    for (int j = c; j < x.columns; ++j)
      if (group(j) == own) sum += x(r, j);
    to(r, own) = sum;
  });
#else
  team_for(member, x.rows, [&](Index i) {
    const int r = static_cast<int>(i);
    for (int c = 0; c < x.columns; ++c) to(r, group(c)) += x(r, c);
  });
#endif
}

/// y = A X, A: [rows x columns] with entries a(r, c), each column of X given by a function x(c), y: [rows x columns of
/// X]; sums in double. Before an entry of A is read visit(r, c) is called, which may write it (hosts: in the same
/// pass). On a host a thread owns rows of y; on a device up to eight neighbouring threads share one where rows are few.
/// All threads must call. No barrier follows.
template <class V, class A, class... X>
KOKKOS_INLINE_FUNCTION void team_visit_and_multiply(const Member& member, int rows, int columns, const V& visit,
                                                    const A& a, double* y, const X&... x) {
  constexpr int kFactors = sizeof...(X);
#if defined(FEDPP_DEVICE_CODE)
  team_for_2d(member, rows, columns, visit);
  member.team_barrier();
  int lanes = 1;
  while (lanes < 8 && lanes * rows < member.team_size()) lanes *= 2;
  const int lane = member.team_rank() % lanes, group = member.team_rank() / lanes;
  for (int first = 0; first < rows; first += member.team_size() / lanes) {  // as often for every thread of a warp
    const int r = first + group;
    double sums[kFactors] = {};
    if (r < rows)
      for (int c = lane; c < columns; c += lanes) {
        const double entry = a(r, c);
        int k = 0;
        ((sums[k++] += entry * x(c)), ...);
      }
    for (int other = lanes / 2; other > 0; other /= 2)
      for (double& sum : sums) sum += shuffle_xor(0xffffffffu, sum, other);
    if (lane == 0 && r < rows)
      for (int k = 0; k < kFactors; ++k) y[r + k * rows] = sums[k];
  }
#else
  const int begin = static_cast<int>(static_cast<Index>(rows) * member.team_rank() / member.team_size());
  const int end = static_cast<int>(static_cast<Index>(rows) * (member.team_rank() + 1) / member.team_size());
  for (int k = 0; k < kFactors; ++k)
    for (int r = begin; r < end; ++r) y[r + k * rows] = 0;
  for (int c = 0; c < columns; ++c) {
    const double factors[] = {x(c)...};
    FEDPP_INDEPENDENT
    for (int r = begin; r < end; ++r) {
      visit(r, c);
      const double entry = a(r, c);
      for (int k = 0; k < kFactors; ++k) y[r + k * rows] += entry * factors[k];
    }
  }
#endif
}

/// The same of an A that nobody has to visit first.
template <class A, class... X>
KOKKOS_INLINE_FUNCTION void team_multiply(const Member& member, int rows, int columns, const A& a, double* y,
                                          const X&... x) {
  team_visit_and_multiply(member, rows, columns, [](int, int) {}, a, y, x...);
}

/// The upper triangle of a square matrix becomes the lower one's image. Barriers before and after.
KOKKOS_INLINE_FUNCTION void team_mirror_lower(const Member& member, Matrix<double> a) {
  member.team_barrier();
#if defined(FEDPP_DEVICE_CODE)
  team_for_2d(member, a.rows, a.columns, [=](int r, int c) {
    if (r < c) a(r, c) = a(c, r);
  });
#else
  team_for(member, a.columns, [=](Index i) {
    const int c = static_cast<int>(i);
    for (int r = c + 1; r < a.rows; ++r) a(c, r) = a(r, c);
  });
#endif
  member.team_barrier();
}

/// Scratch of a team, handed out piece by piece: shared memory where team_policy() found room there, else global.
class Scratch {
 public:
  KOKKOS_INLINE_FUNCTION Scratch(const Member& member, Index doubles) : next_(nullptr) {
    if (doubles <= 0) return;
    if constexpr (!kHostBackend)
      next_ = static_cast<double*>(member.team_scratch(0).get_shmem(doubles * sizeof(double)));
    if (!next_) next_ = static_cast<double*>(member.team_scratch(1).get_shmem(doubles * sizeof(double)));
  }
  KOKKOS_INLINE_FUNCTION double* take(Index doubles) {
    double* piece = next_;
    next_ += doubles;
    return piece;
  }
  KOKKOS_INLINE_FUNCTION Matrix<double> take(int rows, int columns) {
    return Matrix<double>(take(static_cast<Index>(rows) * columns), rows, columns);
  }

 private:
  double* next_;
};

}  // namespace fedpp::gpu
