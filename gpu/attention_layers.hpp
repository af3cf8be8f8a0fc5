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

/// to = from. No barrier.
KOKKOS_INLINE_FUNCTION void copy(const Member& member, Matrix<const double> from, Matrix<double> to) {
  team_for_2d(member, to.rows, to.columns, [=](int r, int c) { to(r, c) = from(r, c); });
}

KOKKOS_INLINE_FUNCTION int clamp(int x, int most) { return x < 0 ? 0 : (x > most ? most : x); }

// An affine map's weights are [W b], column by column.

/// Y = finish(W X + b, row, column) entry by entry.
template <class D, class Finish>
KOKKOS_INLINE_FUNCTION void affine(const Member& member, const double* weights, Matrix<const double> x,
                                   Matrix<double> y, const Finish& finish) {
  const Matrix w(weights, y.rows, x.rows);
  const double* bias = w.column(x.rows);
  D::product(member, 1, w, x, 0, y);
  team_for_2d(member, y.rows, y.columns, [=](int r, int c) { y(r, c) = finish(y(r, c) + bias[r], r, c); });
  member.team_barrier();
}

/// Y = W X + b.
template <class D>
KOKKOS_INLINE_FUNCTION void affine(const Member& member, const double* weights, Matrix<const double> x,
                                   Matrix<double> y) {
  affine<D>(member, weights, x, y, [](double value, int, int) { return value; });
}

/// gradient += Ybar [X; 1]'.
template <class D>
KOKKOS_INLINE_FUNCTION void affine_adjoint(const Member& member, Matrix<const double> y_bar, Matrix<const double> x,
                                           double* gradient) {
  const Matrix w_bar(gradient, y_bar.rows, x.rows);
  double* bias = w_bar.column(x.rows);
  team_add_parts(
      member, 0, y_bar.rows, y_bar.columns + 1,
      [=](int c) -> const double* { return c == 0 ? bias : y_bar.column(c - 1); }, bias);
  D::product(member, 1, y_bar, transposed(x), 1, w_bar);
}

/// The same, and Xbar = W' Ybar + beta Xbar.
template <class D>
KOKKOS_INLINE_FUNCTION void affine_adjoint(const Member& member, const double* weights, Matrix<const double> y_bar,
                                           Matrix<const double> x, double* gradient, double beta,
                                           Matrix<double> x_bar) {
  affine_adjoint<D>(member, y_bar, x, gradient);
  D::product(member, 1, transposed(Matrix(weights, y_bar.rows, x.rows)), y_bar, beta, x_bar);
}

// Items stand side by side: x, y, u, o, ... are [H x n]; qkv, their q, k and v below each other, is [3H x n]. Below o
// its log-sum-exp is a row more.

/// From x_l and o: y and u = tanh(W_1 [y; 1]).
template <class D>
KOKKOS_INLINE_FUNCTION void feed_inside(const Member& member, const Attention& a, const double* w, int layer,
                                        Matrix<const double> x, Matrix<const double> o, Matrix<double> y,
                                        Matrix<double> u) {
  affine<D>(member, w + a.out(layer), o.rows_from(0, a.width), y,
            [=](double value, int r, int c) { return value + x(r, c); });
  affine<D>(member, w + a.first(layer), y, u, [](double value, int, int) { return fast_tanh(value); });
}

/// x_(l+1) from x_l, in whose place it may be written, and o; leaves y and u.
template <class D>
KOKKOS_INLINE_FUNCTION void feed_forward(const Member& member, const Attention& a, const double* w, int layer,
                                         Matrix<const double> x, Matrix<const double> o, Matrix<double> y,
                                         Matrix<double> u, Matrix<double> next) {
  feed_inside<D>(member, a, w, layer, x, o, y, u);
  affine<D>(member, w + a.second(layer), u, next, [=](double value, int r, int c) { return value + y(r, c); });
}

/// Adjoint of feed_forward() from next_bar, which becomes the part of x_l's adjoint that passes by the attention, to
/// o_bar, without a row for the log-sum-exp. y, u, u_bar and next_bar are without gaps.
template <class D>
KOKKOS_INLINE_FUNCTION void feed_forward_adjoint(const Member& member, const Attention& a, const double* w, int layer,
                                                 Matrix<const double> o, Matrix<const double> y, Matrix<const double> u,
                                                 Matrix<double> next_bar, Matrix<double> o_bar, Matrix<double> u_bar,
                                                 double* gradient) {
  affine_adjoint<D>(member, w + a.second(layer), next_bar, u, gradient + a.second(layer), 0, u_bar);
  team_for(member, u.size(), [=](Index at) { u_bar[at] *= 1 - u[at] * u[at]; });
  member.team_barrier();
  affine_adjoint<D>(member, w + a.first(layer), u_bar, y, gradient + a.first(layer), 1, next_bar);
  affine_adjoint<D>(member, w + a.out(layer), next_bar, o.rows_from(0, a.width), gradient + a.out(layer), 0, o_bar);
}

/// [x; E_k] that the items' x_0 is made of, [(I + A) x n].
template <class Type>
KOKKOS_INLINE_FUNCTION void gather_inputs(const Member& member, const Attention& a, const double* w,
                                          Matrix<const double> input, const Type& type, Matrix<double> in) {
  team_for_columns(member, in.rows, in.columns, [=, &type](int c) {
    const double* from = input.column(c);
    double* column = in.column(c);
    const int k = a.type_width > 0 ? type(c) : -1;
    const double* embedded = w + a.type_width * k;
    return [=](int r) { column[r] = r < a.inputs ? from[r] : (k < 0 ? 0 : embedded[r - a.inputs]); };
  });
  member.team_barrier();
}

/// x_0 of the items; leaves what it is made of.
template <class D, class Type>
KOKKOS_INLINE_FUNCTION void enter(const Member& member, const Attention& a, const double* w, Matrix<const double> input,
                                  const Type& type, Matrix<double> in, Matrix<double> x) {
  gather_inputs(member, a, w, input, type, in);
  affine<D>(member, w + a.embed_in(), in, x);
}

}  // namespace fedpp::gpu::attention
