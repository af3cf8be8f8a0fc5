// Mixed precision: the arrays with a column for every point and a row for every inducing point, k(z,t) and V = L^-1 k,
// are kept in single precision, and so are the products with them. They are formed in double, and everything else is
// double: embeddings, K(z,z), its factor and inverse, q(v), sums over columns, weights. So a column of V is right to
// 6e-8 of its entries, however ill K(z,z) is conditioned.
#pragma once

#include "gpu/extents.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

/// Doubles of scratch that n numbers of type Real fill.
template <class Real>
KOKKOS_INLINE_FUNCTION Index doubles_for(Index n) {
  return (n * static_cast<Index>(sizeof(Real)) + 7) / 8;
}

/// n numbers of type Real, or a matrix of them, from a team's scratch.
template <class Real>
KOKKOS_INLINE_FUNCTION Real* take(Scratch& scratch, Index n) {
  return reinterpret_cast<Real*>(scratch.take(doubles_for<Real>(n)));
}
template <class Real>
KOKKOS_INLINE_FUNCTION Matrix<Real> take(Scratch& scratch, int rows, int columns) {
  return Matrix<Real>(take<Real>(scratch, static_cast<Index>(rows) * columns), rows, columns);
}

/// Doubles of scratch for n numbers that are doubles elsewhere: none where Real is double.
template <class Real>
KOKKOS_INLINE_FUNCTION Index copy_scratch(Index n) {
  return std::is_same_v<Real, double> ? 0 : doubles_for<Real>(n);
}

// Matrices below are without gaps.

/// x as numbers of type Real: x itself, or a copy in scratch (copy_scratch<Real>(x.size())), complete after a barrier.
template <class Real>
KOKKOS_INLINE_FUNCTION Matrix<const Real> rounded(const Member& member, Matrix<const double> x, Scratch& scratch) {
  if constexpr (std::is_same_v<Real, double>) {
    return x;
  } else {
    const Matrix<Real> copy = take<Real>(scratch, x.rows, x.columns);
    team_for(member, x.size(), [=](Index at) { copy[at] = static_cast<Real>(x[at]); });
    return copy;
  }
}

/// Where to form a matrix of type Real that belongs into x: there, or in scratch where x holds other numbers.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION Matrix<Real> place_for(Matrix<Kept> x, Scratch& scratch) {
  if constexpr (std::is_same_v<Real, Kept>) {
    return x;
  } else {
    return take<Real>(scratch, x.rows, x.columns);
  }
}

/// The same, the other place being given.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION Matrix<Real> place_for(Matrix<Kept> x, Real* other) {
  if constexpr (std::is_same_v<Real, Kept>) {
    return x;
  } else {
    return Matrix<Real>(other, x.rows, x.columns);
  }
}

/// Brings what was formed at a place_for(x) to x; barriers are the caller's.
template <class Real, class Kept>
KOKKOS_INLINE_FUNCTION void deliver(const Member& member, Matrix<Real> formed, Matrix<Kept> x) {
  if constexpr (!std::is_same_v<Real, Kept>)
    team_for(member, x.size(), [=](Index at) { x[at] = static_cast<Kept>(formed[at]); });
}

}  // namespace fedpp::gpu
