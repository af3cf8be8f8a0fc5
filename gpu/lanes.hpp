// A column's work shared by neighbouring threads that need each other's result at once: a maximum that the next loop
// subtracts, say. Eight threads of a warp on a device, which read neighbouring rows and exchange without a barrier; one
// thread on a host, whose loops the compiler vectorises.
#pragma once

#include "gpu/team.hpp"

namespace fedpp::gpu {

class Lanes {
 public:
#if defined(FEDPP_DEVICE_CODE)
  static constexpr int kCount = 8;
#else
  static constexpr int kCount = 1;
#endif

  KOKKOS_INLINE_FUNCTION explicit Lanes(int team_rank)
      : own_(team_rank % kCount), mask_(0xffu << (team_rank % 32 - own_)) {}

  /// For what is done once a column.
  KOKKOS_INLINE_FUNCTION bool first() const { return own_ == 0; }

  /// Before first() writes what the others have read.
  KOKKOS_INLINE_FUNCTION void wait() const {
#if defined(FEDPP_DEVICE_CODE)
    warp_barrier(mask_);
#endif
  }

  /// f(r) for r in [0, n): a row's thread is always the same.
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_each(int n, const F& f) const {
#if defined(FEDPP_DEVICE_CODE)
    for (int r = own_; r < n; r += kCount) f(r);
#else
    FEDPP_INDEPENDENT
    for (int r = 0; r < n; ++r) f(r);
#endif
  }

  /// Sum of f(r) over [0, n), known to all; its order depends on n alone.
  template <class F>
  KOKKOS_INLINE_FUNCTION double sum(int n, const F& f) const {
#if defined(FEDPP_DEVICE_CODE)
    double total = 0;
    for (int r = own_; r < n; r += kCount) total += f(r);
    for (int other = kCount / 2; other > 0; other /= 2) total += shuffle_xor(mask_, total, other);
    return total;
#else
    return lane_sum(0, n, f);
#endif
  }

  /// The largest of `start` and f(r) over [0, n), known to all; f(r) is passed over where it is no number.
  template <class F>
  KOKKOS_INLINE_FUNCTION double largest(double start, int n, const F& f) const {
#if defined(FEDPP_DEVICE_CODE)
    for (int r = own_; r < n; r += kCount) start = larger(f(r), start);
    for (int other = kCount / 2; other > 0; other /= 2) start = larger(shuffle_xor(mask_, start, other), start);
    return start;
#else
    constexpr int kChains = 8;  // as lane_sum() has them
    double chain[kChains];
    for (double& x : chain) x = start;
    int r = 0;
    for (; r + kChains <= n; r += kChains)
      for (int l = 0; l < kChains; ++l) chain[l] = larger(f(r + l), chain[l]);
    for (; r < n; ++r) start = larger(f(r), start);
    for (const double x : chain) start = larger(x, start);
    return start;
#endif
  }

 private:
  KOKKOS_INLINE_FUNCTION static double larger(double a, double b) { return a > b ? a : b; }

  int own_;
  [[maybe_unused]] unsigned mask_;  ///< the threads of the warp that share the column
};

/// Calls f(lanes, column) for every column, by all the threads that share it. No barrier.
template <class F>
KOKKOS_INLINE_FUNCTION void team_for_lanes(const Member& member, int columns, const F& f) {
#if defined(FEDPP_DEVICE_CODE)
  for (int c = member.team_rank() / Lanes::kCount; c < columns; c += member.team_size() / Lanes::kCount)
    f(Lanes(member.team_rank()), c);
#else
  team_for(member, columns, [&](Index c) { f(Lanes(0), static_cast<int>(c)); });
#endif
}

}  // namespace fedpp::gpu
