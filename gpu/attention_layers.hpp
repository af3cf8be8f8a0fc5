// The layers of the attention encoder on a team's items: projections, attention over a stream's tokens, feed-forward,
// and their adjoints (docs/encoders.md). The launches over a batch: gpu/attention.cpp.
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder.hpp"

namespace fedpp::gpu::attention {

inline constexpr int kItems = 64, kKeys = 64;  ///< extents of a block of scores

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
  KOKKOS_INLINE_FUNCTION int item() const { return 2 * width + 2; }  ///< q / sqrt(H), dJ/do, log-sum-exp, o' dJ/do
};

/// to[rows x n] = from[rows x n], columns apart by ldf and ldt. No barrier.
KOKKOS_INLINE_FUNCTION void copy(const Member& member, int rows, int n, const double* from, int ldf, double* to,
                                 int ldt) {
  team_for_2d(member, rows, n,
              [=](int r, int c) { to[r + static_cast<Index>(c) * ldt] = from[r + static_cast<Index>(c) * ldf]; });
}

/// Y [rows x n] = W [X; 1], W [rows x (k + 1)].
template <class D>
KOKKOS_INLINE_FUNCTION void affine(const Member& member, int rows, int k, int n, const double* w, const double* x,
                                   int ldx, double* y, int ldy) {
  D::gemm(member, Op::kNone, Op::kNone, rows, n, k, 1.0, w, rows, x, ldx, 0.0, y, ldy);
  const double* bias = w + static_cast<Index>(rows) * k;
  team_for_2d(member, rows, n, [=](int r, int c) { y[r + static_cast<Index>(c) * ldy] += bias[r]; });
  member.team_barrier();
}

/// gradient += Ybar [X; 1]'.
template <class D>
KOKKOS_INLINE_FUNCTION void affine_adjoint(const Member& member, int rows, int k, int n, const double* y_bar, int ldy,
                                           const double* x, int ldx, double* gradient) {
  D::gemm(member, Op::kNone, Op::kTranspose, rows, k, n, 1.0, y_bar, ldy, x, ldx, 1.0, gradient, rows);
  double* bias = gradient + static_cast<Index>(rows) * k;
  team_for(member, rows, [=](Index r) {
    double sum = 0;
    for (int c = 0; c < n; ++c) sum += y_bar[r + static_cast<Index>(c) * ldy];
    bias[r] += sum;
  });
  member.team_barrier();
}

/// q (divided by sqrt(H)), k, v of n items, [3H x n].
template <class D>
KOKKOS_INLINE_FUNCTION void project(const Member& member, const Attention& a, const double* w, int layer, int n,
                                    const double* x, int ldx, double* qkv) {
  affine<D>(member, 3 * a.width, a.width, n, w + a.qkv(layer), x, ldx, qkv, 3 * a.width);
  team_for_2d(member, a.width, n, [=](int r, int c) { qkv[r + static_cast<Index>(c) * 3 * a.width] *= a.scale; });
  member.team_barrier();
}

/// x_(l+1) from x_l and o; leaves y and u = tanh(W_1 [y; 1]).
template <class D>
KOKKOS_INLINE_FUNCTION void feed_forward(const Member& member, const Attention& a, const double* w, int layer, int n,
                                         const double* x, int ldx, const double* o, int ldo, double* y, double* u,
                                         double* next, int ldn) {
  const int h = a.width;
  affine<D>(member, h, h, n, w + a.out(layer), o, ldo, y, h);
  team_for_2d(member, h, n, [=](int r, int c) { y[r + c * h] += x[r + static_cast<Index>(c) * ldx]; });
  member.team_barrier();
  affine<D>(member, h, h, n, w + a.first(layer), y, h, u, h);
  team_for(member, static_cast<Index>(h) * n, [=](Index j) { u[j] = fast_tanh(u[j]); });
  member.team_barrier();
  affine<D>(member, h, h, n, w + a.second(layer), u, h, next, ldn);
  team_for_2d(member, h, n, [=](int r, int c) { next[r + static_cast<Index>(c) * ldn] += y[r + c * h]; });
  member.team_barrier();
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

/// Keys and values of a stream's tokens in one layer, `stride` doubles from token to token.
struct Keys {
  const double* k;
  const double* v;
  int stride;
};

KOKKOS_INLINE_FUNCTION int clamp(int x, int most) { return x < 0 ? 0 : (x > most ? most : x); }

/// o (H rows) and log-sum-exp (row H) of n items [(H + 1) x n]; item c sees the first visible(c) keys and itself, and a
/// key's score falls by `slope` from one to the key before it. scores: [kKeys x n], running: [2 n].
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend(const Member& member, int h, int n, const double* qkv, const Keys& keys,
                                   const Visible& visible, double slope, double* o, double* scores, double* running) {
  const int ld = h + 1;
  int most = 0;
  for (int c = 0; c < n; ++c) most = visible(c) > most ? visible(c) : most;
  team_for(member, n, [=](Index c) {
    const double* q = qkv + c * 3 * h;
    double score = 0;
    for (int r = 0; r < h; ++r) score += q[r] * q[h + r];
    running[2 * c] = score;
    running[2 * c + 1] = 1;
    for (int r = 0; r < h; ++r) o[r + c * ld] = q[2 * h + r];
  });
  for (int first = 0; first < most; first += kKeys) {
    const int count = clamp(most - first, kKeys);
    D::gemm(member, Op::kTranspose, Op::kNone, count, n, h, 1.0, keys.k + static_cast<Index>(first) * keys.stride,
            keys.stride, qkv, 3 * h, 0.0, scores, kKeys);
    team_for(member, n, [=, &visible](Index c) {
      double* s = scores + c * kKeys;
      const int age = visible(c) - first, seen = clamp(age, count);
      for (int j = 0; j < seen; ++j) s[j] -= slope * (age - j);
      double top = running[2 * c];
      for (int j = 0; j < seen; ++j) top = s[j] > top ? s[j] : top;
      const double shrink = fast_exp(running[2 * c] - top);
      for (int j = 0; j < seen; ++j) s[j] = fast_exp(s[j] - top);
      for (int j = seen; j < count; ++j) s[j] = 0;
      double sum = running[2 * c + 1] * shrink;
      for (int j = 0; j < seen; ++j) sum += s[j];
      running[2 * c] = top;
      running[2 * c + 1] = sum;
      for (int r = 0; r < h; ++r) o[r + c * ld] *= shrink;
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kNone, h, n, count, 1.0, keys.v + static_cast<Index>(first) * keys.stride,
            keys.stride, scores, kKeys, 1.0, o, ld);
  }
  team_for(member, n, [=](Index c) {
    for (int r = 0; r < h; ++r) o[r + c * ld] /= running[2 * c + 1];
    o[h + c * ld] = running[2 * c] + math::log(running[2 * c + 1]);
  });
  member.team_barrier();
}

/// Adjoint of attend() by the items' own q, k, v: qkv_bar [3H x n] (k and v of themselves only), and by log slope,
/// added to *recency_bar; fills items [. x n] with what the adjoint by tokens reads. scores, scores_bar: [kKeys x n].
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend_adjoint(const Member& member, const Attention& a, int n, const double* qkv,
                                           const Keys& keys, const Visible& visible, double slope, const double* o,
                                           const double* o_bar, double* qkv_bar, double* scores, double* scores_bar,
                                           double* items, int item_stride, double* recency_bar) {
  const int h = a.width, ld = h + 1;
  int most = 0;
  for (int c = 0; c < n; ++c) most = visible(c) > most ? visible(c) : most;
  team_for(member, n, [=](Index c) {
    const double* q = qkv + c * 3 * h;
    double* bar = qkv_bar + c * 3 * h;
    double* item = items + c * item_stride;
    const double* own_bar = o_bar + c * h;
    double score = 0, share = 0, value = 0;
    for (int r = 0; r < h; ++r) {
      score += q[r] * q[h + r];
      share += own_bar[r] * o[r + c * ld];
      value += own_bar[r] * q[2 * h + r];
    }
    const double p = math::exp(score - o[h + c * ld]), s_bar = p * (value - share);
    for (int r = 0; r < h; ++r) {
      bar[r] = s_bar * q[h + r];
      bar[h + r] = s_bar * q[r];
      bar[2 * h + r] = p * own_bar[r];
      item[r] = q[r];
      item[h + r] = own_bar[r];
    }
    item[2 * h] = o[h + c * ld];
    item[2 * h + 1] = share;
  });
  member.team_barrier();
  for (int first = 0; first < most; first += kKeys) {
    const int count = clamp(most - first, kKeys);
    const double *k = keys.k + static_cast<Index>(first) * keys.stride,
                 *v = keys.v + static_cast<Index>(first) * keys.stride;
    D::gemm(member, Op::kTranspose, Op::kNone, count, n, h, 1.0, k, keys.stride, qkv, 3 * h, 0.0, scores, kKeys);
    D::gemm(member, Op::kTranspose, Op::kNone, count, n, h, 1.0, v, keys.stride, o_bar, h, 0.0, scores_bar, kKeys);
    team_for(member, n, [=, &visible](Index c) {
      const double *s = scores + c * kKeys, *item = items + c * item_stride;
      double* bar = scores_bar + c * kKeys;
      const int age = visible(c) - first, seen = clamp(age, count);
      const double lse = item[2 * h], share = item[2 * h + 1];
      for (int j = 0; j < seen; ++j) bar[j] = fast_exp(s[j] - slope * (age - j) - lse) * (bar[j] - share);
      for (int j = seen; j < count; ++j) bar[j] = 0;
    });
    member.team_barrier();
    const double aged = team_sum(member, n, [&](Index c) {
      const double* bar = scores_bar + c * kKeys;
      const int age = visible(c) - first;
      return lane_sum(0, clamp(age, count), [=](Index j) { return bar[j] * static_cast<double>(age - j); });
    });
    if (member.team_rank() == 0) *recency_bar -= slope * aged;
    D::gemm(member, Op::kNone, Op::kNone, h, n, count, 1.0, k, keys.stride, scores_bar, kKeys, 1.0, qkv_bar, 3 * h);
  }
  team_for_2d(member, h, n, [=](int r, int c) { qkv_bar[r + static_cast<Index>(c) * 3 * h] *= a.scale; });
  member.team_barrier();
}

/// Adds n items' part to the adjoints of `count` <= kKeys keys and values from number `first` of their stream on:
/// k_bar, v_bar [H x count]. Item c stands at items(c) and sees visible(c) keys. q, o_bar: [H x n], scores, scores_bar:
/// [kKeys x n].
template <class D, class Items, class Visible>
KOKKOS_INLINE_FUNCTION void keys_adjoint(const Member& member, int h, int first, int count, const Keys& keys, int n,
                                         const Items& items, const Visible& visible, double slope, double* k_bar,
                                         double* v_bar, double* q, double* o_bar, double* scores, double* scores_bar) {
  team_for(member, n, [=, &items](Index c) {
    const double* item = items(c);
    for (int r = 0; r < h; ++r) {
      q[r + c * h] = item[r];
      o_bar[r + c * h] = item[h + r];
    }
  });
  member.team_barrier();
  const double *k = keys.k + static_cast<Index>(first) * keys.stride,
               *v = keys.v + static_cast<Index>(first) * keys.stride;
  D::gemm(member, Op::kTranspose, Op::kNone, count, n, h, 1.0, k, keys.stride, q, h, 0.0, scores, kKeys);
  D::gemm(member, Op::kTranspose, Op::kNone, count, n, h, 1.0, v, keys.stride, o_bar, h, 0.0, scores_bar, kKeys);
  team_for(member, n, [=, &items, &visible](Index c) {
    const double* item = items(c);
    double *s = scores + c * kKeys, *bar = scores_bar + c * kKeys;
    const int age = visible(c) - first, seen = clamp(age, count);
    const double lse = item[2 * h], share = item[2 * h + 1];
    for (int j = 0; j < seen; ++j) s[j] = fast_exp(s[j] - slope * (age - j) - lse);
    for (int j = 0; j < seen; ++j) bar[j] = s[j] * (bar[j] - share);
    for (int j = seen; j < count; ++j) s[j] = bar[j] = 0;
  });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kTranspose, h, count, n, 1.0, q, h, scores_bar, kKeys, 1.0, k_bar, h);
  D::gemm(member, Op::kNone, Op::kTranspose, h, count, n, 1.0, o_bar, h, scores, kKeys, 1.0, v_bar, h);
}

/// x_0 of n items, and [x; E_k] that it is made of, [(I + A) x n].
template <class D, class Type>
KOKKOS_INLINE_FUNCTION void enter(const Member& member, const Attention& a, const double* w, int n, const double* input,
                                  const Type& type, double* in, double* x, int ldx) {
  const int rows = a.below();
  team_for(member, n, [=, &type](Index c) {
    for (int r = 0; r < a.inputs; ++r) in[c * rows + r] = input[c * a.inputs + r];
    const int k = type(c);
    for (int r = 0; r < a.type_width; ++r) in[c * rows + a.inputs + r] = k < 0 ? 0 : w[a.type_width * k + r];
  });
  member.team_barrier();
  affine<D>(member, a.width, rows, n, w + a.embed_in(), in, rows, x, ldx);
}

}  // namespace fedpp::gpu::attention
