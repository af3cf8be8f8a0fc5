// Embeddings h(t) of the kernel (spec 1.7) and their adjoints, as team functions on one problem's tile.
// The weights of an encoder come first in w, column-major: deep kernel [W (D x I), b (D)]; behind them [log r, log l].
// A further encoder: a value of EncoderKind, its sizes here, and a branch in embed() and embed_adjoint().
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/kokkos.hpp"

namespace fedpp::gpu {

enum class EncoderKind : int {
  kRbf,        ///< h(t) = t
  kDeepKernel  ///< h(t) = tanh(W x(t) + b), x = [tau; sin, cos of the periods], tau = 2 t / T - 1
};

struct Encoder {
  static constexpr int kMostPeriods = 4;

  EncoderKind kind = EncoderKind::kDeepKernel;
  int width = 32;                     ///< D
  int periods = 0;                    ///< pairs of sine and cosine beside tau
  double window = 100;                ///< T
  double angular[kMostPeriods] = {};  ///< 2 pi / period, model clock
  double phase[kMostPeriods] = {};    ///< angle at model time 0

  KOKKOS_INLINE_FUNCTION int dimension() const { return kind == EncoderKind::kRbf ? 1 : width; }  ///< of h
  KOKKOS_INLINE_FUNCTION int inputs() const { return 1 + 2 * periods; }                           ///< I
  KOKKOS_INLINE_FUNCTION int weights() const { return kind == EncoderKind::kRbf ? 0 : width * (inputs() + 1); }
  KOKKOS_INLINE_FUNCTION int parameters() const { return weights() + 2; }  ///< P: and log r, log l

  /// The inputs of the deep kernel at model time t, and the 1 that multiplies b: x[I + 1].
  KOKKOS_INLINE_FUNCTION void input(double t, double* x) const {
    x[0] = 2 * t / window - 1;
    for (int k = 0; k < periods; ++k) {
      const double angle = angular[k] * t + phase[k];
      x[1 + 2 * k] = math::sin(angle);
      x[2 + 2 * k] = math::cos(angle);
    }
    x[inputs()] = 1;
  }

  /// Doubles of scratch that embed() and embed_adjoint() need for n points.
  KOKKOS_INLINE_FUNCTION Index scratch(int n) const {
    return kind == EncoderKind::kRbf ? 0 : static_cast<Index>(inputs() + 1) * n;
  }
};

/// h[D x n] at the model times t[n].
template <class D>
KOKKOS_INLINE_FUNCTION void embed(const Member& member, const Encoder& encoder, const double* w, const double* t, int n,
                                  double* h, double* scratch) {
  if (encoder.kind == EncoderKind::kRbf) {
    team_for(member, n, [=](Index i) { h[i] = t[i]; });
    member.team_barrier();
    return;
  }
  const int rows = encoder.inputs() + 1;
  const int dimension = encoder.width;
  team_for(member, n, [=, &encoder](Index i) { encoder.input(t[i], scratch + i * rows); });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kNone, dimension, n, rows, 1.0, w, dimension, scratch, rows, 0.0, h, dimension);
  team_for(member, static_cast<Index>(dimension) * n, [=](Index i) { h[i] = fast_tanh(h[i]); });
  member.team_barrier();
}

/// Adjoint of embed(): dw[weights] = sum_n (dh/dw)' hbar_n; hbar[D x n] is overwritten.
template <class D>
KOKKOS_INLINE_FUNCTION void embed_adjoint(const Member& member, const Encoder& encoder, const double* t, int n,
                                          const double* h, double* hbar, double* dw, double* scratch) {
  if (encoder.kind == EncoderKind::kRbf) return;
  const int rows = encoder.inputs() + 1;
  const int dimension = encoder.width;
  team_for(member, n, [=, &encoder](Index i) { encoder.input(t[i], scratch + i * rows); });
  team_for(member, static_cast<Index>(dimension) * n, [=](Index i) { hbar[i] *= 1 - h[i] * h[i]; });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kTranspose, dimension, rows, n, 1.0, hbar, dimension, scratch, rows, 0.0, dw,
          dimension);
}

}  // namespace fedpp::gpu
