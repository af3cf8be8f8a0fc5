// What an item of the attention encoder does with the tokens of its stream before it (docs/encoders.md), and the
// adjoint by items and by tokens. Scores exist only as blocks of kKeys x kItems, made by products; an item's column is
// then a few threads' (gpu/lanes.hpp).
#pragma once

#include "gpu/attention_layers.hpp"
#include "gpu/lanes.hpp"

namespace fedpp::gpu::attention {

/// Keys and values of a stream's tokens in one layer, [H x tokens]. Products read them by rows and by columns, so that
/// neighbouring threads read neighbouring numbers: k' and v' lie in blocks of kKeys tokens, the tokens of a row behind
/// each other; k and v token by token. k and v' are there for the adjoint alone.
struct Keys {
  double* data;
  int width, tokens;

  KOKKOS_INLINE_FUNCTION static int parts(bool with_gradient) { return with_gradient ? 4 : 2; }
  KOKKOS_INLINE_FUNCTION double* k_transposed(int token) const { return transposed(0, token); }
  KOKKOS_INLINE_FUNCTION double* v(int token) const { return part(1) + static_cast<Index>(token) * width; }
  KOKKOS_INLINE_FUNCTION double* k(int token) const { return part(2) + static_cast<Index>(token) * width; }
  KOKKOS_INLINE_FUNCTION double* v_transposed(int token) const { return transposed(3, token); }
  /// From column to column of k' and v' in the block of a token.
  KOKKOS_INLINE_FUNCTION int block(int token) const { return clamp(tokens - token / kKeys * kKeys, kKeys); }

 private:
  KOKKOS_INLINE_FUNCTION double* part(int i) const { return data + static_cast<Index>(i) * width * tokens; }
  KOKKOS_INLINE_FUNCTION double* transposed(int i, int token) const {
    return part(i) + static_cast<Index>(token / kKeys * kKeys) * width + token % kKeys;
  }
};

/// Keeps k and v of n items, the tokens from number `first` on, which lie in one block. No barrier.
KOKKOS_INLINE_FUNCTION void keep(const Member& member, const Keys& keys, int first, int n, const double* qkv,
                                 bool with_gradient) {
  const int h = keys.width, ld = keys.block(first);
  double *k_transposed = keys.k_transposed(first), *v_transposed = with_gradient ? keys.v_transposed(first) : nullptr;
  team_for_2d(member, n, h, [=](int c, int r) {
    const double* item = qkv + static_cast<Index>(c) * 3 * h;
    k_transposed[c + r * ld] = item[h + r];
    if (v_transposed) v_transposed[c + r * ld] = item[2 * h + r];
  });
  copy(member, h, n, qkv + 2 * h, 3 * h, keys.v(first), h);
  if (with_gradient) copy(member, h, n, qkv + h, 3 * h, keys.k(first), h);
}

/// o (H rows) and log-sum-exp (row H) of n items [(H + 1) x n]; item c sees the first visible(c) <= `most` keys and
/// itself, and a key's score falls by `slope` from one to the key before it. scores: [kKeys x n], running: [2 n].
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend(const Member& member, const Attention& a, int n, const double* qkv, const Keys& keys,
                                   const Visible& visible, int most, double slope, double* o, double* scores,
                                   double* running) {
  const int h = a.width, ld = h + 1;
  team_for_lanes(member, n, [=](const Lanes& lanes, int c) {
    const double* q = qkv + static_cast<Index>(c) * 3 * h;
    double* own = o + static_cast<Index>(c) * ld;
    const double score = a.scale * lanes.sum(h, [=](int r) { return q[r] * q[h + r]; });
    if (lanes.first()) {
      running[2 * c] = score;
      running[2 * c + 1] = 1;
    }
    lanes.for_each(h, [=](int r) { own[r] = q[2 * h + r]; });
  });
  member.team_barrier();
  for (int first = 0; first < most; first += kKeys) {
    const int count = clamp(most - first, kKeys);
    D::gemm(member, Op::kNone, Op::kNone, count, n, h, a.scale, keys.k_transposed(first), keys.block(first), qkv, 3 * h,
            0.0, scores, kKeys);
    team_for_lanes(member, n, [=, &visible](const Lanes& lanes, int c) {
      double *s = scores + static_cast<Index>(c) * kKeys, *own = o + static_cast<Index>(c) * ld;
      const int age = visible(c) - first, seen = clamp(age, count);
      const double before = running[2 * c];
      lanes.for_each(seen, [=](int j) { s[j] -= slope * (age - j); });
      const double top = lanes.largest(before, seen, [=](int j) { return s[j]; });
      const double shrink = fast_exp_down(before - top);
      lanes.for_each(seen, [=](int j) { s[j] = fast_exp_down(s[j] - top); });
      lanes.for_each(count - seen, [=](int j) { s[seen + j] = 0; });
      const double sum = lanes.sum(seen, [=](int j) { return s[j]; });
      lanes.for_each(h, [=](int r) { own[r] *= shrink; });
      lanes.wait();
      if (lanes.first()) {
        running[2 * c] = top;
        running[2 * c + 1] = running[2 * c + 1] * shrink + sum;
      }
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kNone, h, n, count, 1.0, keys.v(first), h, scores, kKeys, 1.0, o, ld);
  }
  team_for_columns(member, h + 1, n, [=](int c) {
    double* own = o + static_cast<Index>(c) * ld;
    const double top = running[2 * c], sum = running[2 * c + 1];
    return [=](int r) { own[r] = r < h ? own[r] / sum : top + math::log(sum); };
  });
  member.team_barrier();
}

/// Adjoint of attend(): qkv [3H x n] becomes the adjoint of the items' own q, k, v (k and v of themselves only); what
/// belongs to log slope is added to *recency_bar; items [. x n] gets what the adjoint by tokens reads. q_bar: [H x n],
/// scores, scores_bar: [kKeys x n], aged: [n].
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend_adjoint(const Member& member, const Attention& a, int n, double* qkv,
                                           const Keys& keys, const Visible& visible, int most, double slope,
                                           const double* o, const double* o_bar, double* q_bar, double* scores,
                                           double* scores_bar, double* aged, double* items, int item_stride,
                                           double* recency_bar) {
  const int h = a.width, ld = h + 1;
  team_for_lanes(member, n, [=](const Lanes& lanes, int c) {
    const double *q = qkv + static_cast<Index>(c) * 3 * h, *out = o + static_cast<Index>(c) * ld;
    const double* out_bar = o_bar + static_cast<Index>(c) * h;
    double* item = items + static_cast<Index>(c) * item_stride;
    const double score = a.scale * lanes.sum(h, [=](int r) { return q[r] * q[h + r]; });
    const double share = lanes.sum(h, [=](int r) { return out_bar[r] * out[r]; });
    const double value = lanes.sum(h, [=](int r) { return out_bar[r] * q[2 * h + r]; });
    const double p = math::exp(score - out[h]), s_bar = a.scale * p * (value - share);
    double *own = qkv + static_cast<Index>(c) * 3 * h, *own_bar = q_bar + static_cast<Index>(c) * h;
    lanes.for_each(h, [=](int r) {
      const double own_q = own[r];
      own_bar[r] = s_bar * own[h + r];
      own[h + r] = s_bar * own_q;
      own[2 * h + r] = p * out_bar[r];
      item[r] = own_q;
      item[h + r] = out_bar[r];
    });
    if (lanes.first()) {
      item[2 * h] = out[h];
      item[2 * h + 1] = share;
      aged[c] = 0;
    }
  });
  member.team_barrier();
  for (int first = 0; first < most; first += kKeys) {
    const int count = clamp(most - first, kKeys), block = keys.block(first);
    D::gemm(member, Op::kNone, Op::kNone, count, n, h, a.scale, keys.k_transposed(first), block, qkv, 3 * h, 0.0,
            scores, kKeys);
    D::gemm(member, Op::kNone, Op::kNone, count, n, h, 1.0, keys.v_transposed(first), block, o_bar, h, 0.0, scores_bar,
            kKeys);
    team_for_lanes(member, n, [=, &visible](const Lanes& lanes, int c) {
      const double *s = scores + static_cast<Index>(c) * kKeys, *item = items + static_cast<Index>(c) * item_stride;
      double* bar = scores_bar + static_cast<Index>(c) * kKeys;
      const int age = visible(c) - first, seen = clamp(age, count);
      const double lse = item[2 * h], share = item[2 * h + 1];
      lanes.for_each(seen, [=](int j) { bar[j] = fast_exp(s[j] - slope * (age - j) - lse) * (bar[j] - share); });
      lanes.for_each(count - seen, [=](int j) { bar[seen + j] = 0; });
      const double sum = lanes.sum(seen, [=](int j) { return bar[j] * static_cast<double>(age - j); });
      if (lanes.first()) aged[c] += sum;
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kNone, h, n, count, a.scale, keys.k(first), h, scores_bar, kKeys, 1.0, q_bar, h);
  }
  copy(member, h, n, q_bar, h, qkv, 3 * h);
  if (member.team_rank() == 0) *recency_bar -= slope * lane_sum(0, n, [=](int c) { return aged[c]; });
  member.team_barrier();
}

/// Adds n items' part to the adjoints of `count` <= kItems keys and values from number `first` of their stream on, a
/// token block: k_bar, v_bar [H x count], ldb doubles from token to token. Item c stands at items(c) and sees
/// visible(c) keys. q, o_bar: [H x n], scores, scores_bar: [kItems x n].
template <class D, class Items, class Visible>
KOKKOS_INLINE_FUNCTION void keys_adjoint(const Member& member, const Attention& a, int first, int count,
                                         const Keys& keys, int n, const Items& items, const Visible& visible,
                                         double slope, double* k_bar, double* v_bar, int ldb, double* q, double* o_bar,
                                         double* scores, double* scores_bar) {
  const int h = a.width, block = keys.block(first);
  team_for_columns(member, h, n, [=, &items](int c) {
    const double* item = items(c);
    double *own_q = q + static_cast<Index>(c) * h, *own_bar = o_bar + static_cast<Index>(c) * h;
    return [=](int r) {
      own_q[r] = item[r];
      own_bar[r] = item[h + r];
    };
  });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kNone, count, n, h, a.scale, keys.k_transposed(first), block, q, h, 0.0, scores,
          kItems);
  D::gemm(member, Op::kNone, Op::kNone, count, n, h, 1.0, keys.v_transposed(first), block, o_bar, h, 0.0, scores_bar,
          kItems);
  team_for_lanes(member, n, [=, &items, &visible](const Lanes& lanes, int c) {
    const double* item = items(c);
    double *s = scores + static_cast<Index>(c) * kItems, *bar = scores_bar + static_cast<Index>(c) * kItems;
    const int age = visible(c) - first, seen = clamp(age, count);
    const double lse = item[2 * h], share = item[2 * h + 1];
    lanes.for_each(seen, [=](int j) {
      s[j] = fast_exp(s[j] - slope * (age - j) - lse);
      bar[j] = s[j] * (bar[j] - share);
    });
    lanes.for_each(count - seen, [=](int j) { s[seen + j] = bar[seen + j] = 0; });
  });
  member.team_barrier();
  D::gemm(member, Op::kNone, Op::kTranspose, h, count, n, a.scale, q, h, scores_bar, kItems, 1.0, k_bar, ldb);
  D::gemm(member, Op::kNone, Op::kTranspose, h, count, n, 1.0, o_bar, h, scores, kItems, 1.0, v_bar, ldb);
}

}  // namespace fedpp::gpu::attention
