// Memory that the next steps will read or write: a product on a host asks for its cache lines one by one while it
// computes. Arrays that are longer than the caches are passed through once a step, in pieces of 30 to 50 kB that the
// hardware's own prefetching meets anew each time. A device's other warps hide that by themselves.
#pragma once

#include "gpu/matrix.hpp"

namespace fedpp::gpu {

inline constexpr Index kCacheLine = 64;

/// Nothing, or n numbers from x on, of which only the addresses are looked at.
struct Ahead {
  const char *next = nullptr, *end = nullptr;

  Ahead() = default;
  template <class T>
  KOKKOS_INLINE_FUNCTION Ahead(const T* x, Index n)
      : next(reinterpret_cast<const char*>(x)), end(reinterpret_cast<const char*>(x + n)) {}
  /// Of a matrix without gaps.
  template <class T>
  KOKKOS_INLINE_FUNCTION Ahead(const Matrix<T>& x) : Ahead(x.data, x.size()) {}  // NOLINT: a matrix is memory
};

}  // namespace fedpp::gpu
