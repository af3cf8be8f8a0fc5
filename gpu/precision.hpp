// Mixed precision: the arrays with a column for every point and a row for every inducing point, k(z,t) and V = L^-1 k,
// are kept in single precision, and so are the products with them. They are formed in double, and everything else is
// double: embeddings, K(z,z), its factor and inverse, q(v), sums over columns, weights. So a column of V is right to
// 6e-8 of its entries, however ill K(z,z) is conditioned.
#pragma once

#include "gpu/team.hpp"

namespace fedpp::gpu {

enum class Precision { kDouble, kMixed };

/// Doubles of scratch that n numbers of type Real fill.
template <class Real>
KOKKOS_INLINE_FUNCTION Index doubles_for(Index n) {
  return (n * static_cast<Index>(sizeof(Real)) + 7) / 8;
}

/// n numbers of type Real from a team's scratch.
template <class Real>
KOKKOS_INLINE_FUNCTION Real* take(Scratch& scratch, Index n) {
  return reinterpret_cast<Real*>(scratch.take(doubles_for<Real>(n)));
}

/// Doubles of scratch for n numbers that are doubles elsewhere: none where Real is double.
template <class Real>
KOKKOS_INLINE_FUNCTION Index copy_scratch(Index n) {
  return std::is_same_v<Real, double> ? 0 : doubles_for<Real>(n);
}

/// x[n] as numbers of type Real: x itself, or a copy in scratch (copy_scratch<Real>(n)), complete after a barrier.
template <class Real>
KOKKOS_INLINE_FUNCTION const Real* rounded(const Member& member, Index n, const double* x, Scratch& scratch) {
  if constexpr (std::is_same_v<Real, double>) {
    return x;
  } else {
    Real* copy = take<Real>(scratch, n);
    team_for(member, n, [=](Index j) { copy[j] = static_cast<Real>(x[j]); });
    return copy;
  }
}

/// Where to form n numbers of type Real that belong into x: there, or in scratch where x holds others.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION Real* place_for(Index n, Kept* x, Scratch& scratch) {
  if constexpr (std::is_same_v<Real, Kept>) {
    return x;
  } else {
    return take<Real>(scratch, n);
  }
}

/// The same, the other place being given.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION Real* place_for(Kept* x, Real* other) {
  if constexpr (std::is_same_v<Real, Kept>) {
    return x;
  } else {
    return other;
  }
}

/// Brings what was formed at a place_for(x) to x; barriers are the caller's.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION void deliver(const Member& member, Index n, const Real* formed, Kept* x) {
  if constexpr (!std::is_same_v<Real, Kept>) team_for(member, n, [=](Index j) { x[j] = static_cast<Kept>(formed[j]); });
}

}  // namespace fedpp::gpu
