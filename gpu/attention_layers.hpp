// The layers of the attention encoder on a team's items: sizes, input, projections and feed-forward, and their adjoints
// (docs/encoders.md). What an item does with the tokens before it: gpu/attention_scores.hpp.
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder.hpp"

namespace fedpp::gpu::attention {

/// Extents of a block of scores. A token block of kItems lies within one of kKeys. With 32 items of 32 units a device
/// keeps what embedding them takes in shared memory.
inline constexpr int kItems = kHostBackend ? 64 : 32, kKeys = 64;

/// Sizes and offsets of one encoder. Layers count from 0; layer l reads x_l and makes x_(l+1).
struct Attention {
  int width, layers, inputs, type_width, types;
  double scale;  ///< of the scores: 1 / sqrt(H)

  KOKKOS_INLINE_FUNCTION explicit Attention(const EncoderShape& s)
      : width(s.width),
        layers(s.layers),
        inputs(s.inputs),
        type_width(s.type_width),
        types(s.types),
        scale(1 / math::sqrt(static_cast<double>(s.width))) {}
  KOKKOS_INLINE_FUNCTION int below() const { return inputs + type_width; }
  KOKKOS_INLINE_FUNCTION int square() const { return width * (width + 1); }  ///< a matrix with its bias
  KOKKOS_INLINE_FUNCTION int embed_in() const { return type_width * types; }
  KOKKOS_INLINE_FUNCTION int qkv(int layer) const { return embed_in() + width * (below() + 1) + 6 * layer * square(); }
  KOKKOS_INLINE_FUNCTION int out(int layer) const { return qkv(layer) + 3 * square(); }
  KOKKOS_INLINE_FUNCTION int first(int layer) const { return qkv(layer) + 4 * square(); }
  KOKKOS_INLINE_FUNCTION int second(int layer) const { return qkv(layer) + 5 * square(); }
  KOKKOS_INLINE_FUNCTION int recency(int layer) const { return qkv(layers) + layer; }  ///< log of the scores' slope
  KOKKOS_INLINE_FUNCTION int weights() const { return recency(layers); }
  KOKKOS_INLINE_FUNCTION int item() const { return 2 * width + 2; }  ///< q, dJ/do, log-sum-exp, o' dJ/do
};

/// to[rows x n] = from[rows x n], columns apart by ldf and ldt. No barrier.
KOKKOS_INLINE_FUNCTION void copy(const Member& member, int rows, int n, const double* from, int ldf, double* to,
                                 int ldt) {
  team_for_2d(member, rows, n,
              [=](int r, int c) { to[r + static_cast<Index>(c) * ldt] = from[r + static_cast<Index>(c) * ldf]; });
}

KOKKOS_INLINE_FUNCTION int clamp(int x, int most) { return x < 0 ? 0 : (x > most ? most : x); }

/// Y [rows x n] = finish(W [X; 1], row, column) of every entry, W [rows x (k + 1)].
template <class D, class Finish>
KOKKOS_INLINE_FUNCTION void affine(const Member& member, int rows, int k, int n, const double* w, const double* x,
                                   int ldx, double* y, int ldy, const Finish& finish) {
  D::gemm(member, Op::kNone, Op::kNone, rows, n, k, 1.0, w, rows, x, ldx, 0.0, y, ldy);
  const double* bias = w + static_cast<Index>(rows) * k;
  team_for_2d(member, rows, n, [=](int r, int c) {
    double& entry = y[r + static_cast<Index>(c) * ldy];
    entry = finish(entry + bias[r], r, c);
  });
  member.team_barrier();
}

/// Y = W [X; 1].
template <class D>
KOKKOS_INLINE_FUNCTION void affine(const Member& member, int rows, int k, int n, const double* w, const double* x,
                                   int ldx, double* y, int ldy) {
  affine<D>(member, rows, k, n, w, x, ldx, y, ldy, [](double value, int, int) { return value; });
}

/// gradient += Ybar [X; 1]'.
template <class D>
KOKKOS_INLINE_FUNCTION void affine_adjoint(const Member& member, int rows, int k, int n, const double* y_bar, int ldy,
                                           const double* x, int ldx, double* gradient) {
  double* bias = gradient + static_cast<Index>(rows) * k;
  team_add_parts(
      member, 0, rows, n + 1,
      [=](int c) -> const double* { return c == 0 ? bias : y_bar + static_cast<Index>(c - 1) * ldy; }, bias);
  D::gemm(member, Op::kNone, Op::kTranspose, rows, k, n, 1.0, y_bar, ldy, x, ldx, 1.0, gradient, rows);
}

/// q, k, v of n items, [3H x n].
template <class D>
KOKKOS_INLINE_FUNCTION void project(const Member& member, const Attention& a, const double* w, int layer, int n,
                                    const double* x, int ldx, double* qkv) {
  affine<D>(member, 3 * a.width, a.width, n, w + a.qkv(layer), x, ldx, qkv, 3 * a.width);
}

/// Adds the adjoint of project() to x_bar [H x n] and to the gradient.
template <class D>
KOKKOS_INLINE_FUNCTION void project_adjoint(const Member& member, const Attention& a, const double* w, int layer, int n,
                                            const double* x, int ldx, const double* qkv_bar, double* x_bar, int ldb,
                                            double* gradient) {
  const int h = a.width;
  affine_adjoint<D>(member, 3 * h, h, n, qkv_bar, 3 * h, x, ldx, gradient + a.qkv(layer));
  D::gemm(member, Op::kTranspose, Op::kNone, h, n, 3 * h, 1.0, w + a.qkv(layer), 3 * h, qkv_bar, 3 * h, 1.0, x_bar,
          ldb);
}

/// From x_l and o: y and u = tanh(W_1 [y; 1]).
template <class D>
KOKKOS_INLINE_FUNCTION void feed_inside(const Member& member, const Attention& a, const double* w, int layer, int n,
                                        const double* x, int ldx, const double* o, int ldo, double* y, double* u) {
  const int h = a.width;
  affine<D>(member, h, h, n, w + a.out(layer), o, ldo, y, h,
            [=](double value, int r, int c) { return value + x[r + static_cast<Index>(c) * ldx]; });
  affine<D>(member, h, h, n, w + a.first(layer), y, h, u, h, [](double value, int, int) { return fast_tanh(value); });
}

/// x_(l+1) from x_l, in whose place it may be written, and o; leaves y and u.
template <class D>
KOKKOS_INLINE_FUNCTION void feed_forward(const Member& member, const Attention& a, const double* w, int layer, int n,
                                         const double* x, int ldx, const double* o, int ldo, double* y, double* u,
                                         double* next, int ldn) {
  const int h = a.width;
  feed_inside<D>(member, a, w, layer, n, x, ldx, o, ldo, y, u);
  affine<D>(member, h, h, n, w + a.second(layer), u, h, next, ldn,
            [=](double value, int r, int c) { return value + y[r + static_cast<Index>(c) * h]; });
}

/// Adjoint of feed_forward() from next_bar [H x n], which becomes the part of x_l's adjoint that passes by the
/// attention; o_bar [H x n]; u is overwritten.
template <class D>
KOKKOS_INLINE_FUNCTION void feed_forward_adjoint(const Member& member, const Attention& a, const double* w, int layer,
                                                 int n, const double* o, int ldo, const double* y, double* u,
                                                 double* next_bar, double* o_bar, double* u_bar, double* gradient) {
  const int h = a.width;
  affine_adjoint<D>(member, h, h, n, next_bar, h, u, h, gradient + a.second(layer));
  D::gemm(member, Op::kTranspose, Op::kNone, h, n, h, 1.0, w + a.second(layer), h, next_bar, h, 0.0, u_bar, h);
  team_for(member, static_cast<Index>(h) * n, [=](Index j) { u_bar[j] *= 1 - u[j] * u[j]; });
  member.team_barrier();
  affine_adjoint<D>(member, h, h, n, u_bar, h, y, h, gradient + a.first(layer));
  D::gemm(member, Op::kTranspose, Op::kNone, h, n, h, 1.0, w + a.first(layer), h, u_bar, h, 1.0, next_bar, h);
  affine_adjoint<D>(member, h, h, n, next_bar, h, o, ldo, gradient + a.out(layer));
  D::gemm(member, Op::kTranspose, Op::kNone, h, n, h, 1.0, w + a.out(layer), h, next_bar, h, 0.0, o_bar, h);
}

/// [x; E_k] that the items' x_0 is made of, [(I + A) x n].
template <class Type>
KOKKOS_INLINE_FUNCTION void gather_inputs(const Member& member, const Attention& a, const double* w, int n,
                                          const double* input, const Type& type, double* in) {
  const int rows = a.below();
  team_for_columns(member, rows, n, [=, &type](int c) {
    const double* from = input + static_cast<Index>(c) * a.inputs;
    double* column = in + static_cast<Index>(c) * rows;
    const int k = a.type_width > 0 ? type(c) : -1;
    const double* embedded = w + a.type_width * k;
    return [=](int r) { column[r] = r < a.inputs ? from[r] : (k < 0 ? 0 : embedded[r - a.inputs]); };
  });
  member.team_barrier();
}

/// x_0 of n items; leaves what it is made of.
template <class D, class Type>
KOKKOS_INLINE_FUNCTION void enter(const Member& member, const Attention& a, const double* w, int n, const double* input,
                                  const Type& type, double* in, double* x, int ldx) {
  gather_inputs(member, a, w, n, input, type, in);
  affine<D>(member, a.width, a.below(), n, w + a.embed_in(), in, a.below(), x, ldx);
}

}  // namespace fedpp::gpu::attention
