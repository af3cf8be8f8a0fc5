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
  /// Of n tokens from number `first` on, of k' and v' within one block.
  KOKKOS_INLINE_FUNCTION Matrix<double> k_transposed(int first, int n) const { return transposed_part(0, first, n); }
  KOKKOS_INLINE_FUNCTION Matrix<double> v(int first, int n) const { return part(1).columns_from(first, n); }
  KOKKOS_INLINE_FUNCTION Matrix<double> k(int first, int n) const { return part(2).columns_from(first, n); }
  KOKKOS_INLINE_FUNCTION Matrix<double> v_transposed(int first, int n) const { return transposed_part(3, first, n); }

 private:
  KOKKOS_INLINE_FUNCTION Matrix<double> part(int i) const {
    return {data + static_cast<Index>(i) * width * tokens, width, tokens};
  }
  KOKKOS_INLINE_FUNCTION Matrix<double> transposed_part(int i, int first, int n) const {
    const int block = first / kKeys * kKeys;
    return Matrix(part(i).column(block), clamp(tokens - block, kKeys), width).rows_from(first - block, n);
  }
};

/// to = from'. No barrier.
KOKKOS_INLINE_FUNCTION void copy_transposed(const Member& member, Matrix<const double> from, Matrix<double> to) {
  team_for_2d(member, to.rows, to.columns, [=](int r, int c) { to(r, c) = from(c, r); });
}

/// Keeps k and v of items, the tokens from number `first` on, which lie in one block. No barrier.
KOKKOS_INLINE_FUNCTION void keep(const Member& member, const Keys& keys, int first, Matrix<const double> qkv,
                                 bool with_gradient) {
  const int h = keys.width, n = qkv.columns;
  const Matrix k = qkv.rows_from(h, h), v = qkv.rows_from(2 * h, h);
  copy_transposed(member, k, keys.k_transposed(first, n));
  copy(member, v, keys.v(first, n));
  if (!with_gradient) return;
  copy(member, k, keys.k(first, n));
  copy_transposed(member, v, keys.v_transposed(first, n));
}

/// o and log-sum-exp of n items; item c sees the first visible(c) <= `most` keys and itself, and a key's score falls by
/// `slope` from one to the key before it. scores: [kKeys x n], running: [2 x n], an item's largest score and the sum of
/// exponentials relative to it.
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend(const Member& member, const Attention& a, Matrix<const double> qkv, const Keys& keys,
                                   const Visible& visible, int most, double slope, Matrix<double> o,
                                   Matrix<double> scores, Matrix<double> running) {
  const int h = a.width, n = qkv.columns;
  team_for_lanes(member, n, [=](const Lanes& lanes, int c) {
    const double *q = qkv.column(c), *k = q + h, *v = k + h;
    double* own = o.column(c);
    const double score = a.scale * lanes.sum(h, [=](int r) { return q[r] * k[r]; });
    if (lanes.first()) {
      running(0, c) = score;
      running(1, c) = 1;
    }
    lanes.for_each(h, [=](int r) { own[r] = v[r]; });
  });
  member.team_barrier();
  for (int first = 0; first < most; first += kKeys) {
    const int count = clamp(most - first, kKeys);
    const Matrix block = scores.rows_from(0, count);
    D::product(member, a.scale, keys.k_transposed(first, count), qkv.rows_from(0, h), 0, block);
    team_for_lanes(member, n, [=, &visible](const Lanes& lanes, int c) {
      double *s = block.column(c), *own = o.column(c);
      const int age = visible(c) - first, seen = clamp(age, count);
      const double before = running(0, c);
      lanes.for_each(seen, [=](int j) { s[j] -= slope * (age - j); });
      const double top = lanes.largest(before, seen, [=](int j) { return s[j]; });
      const double shrink = fast_exp_down(before - top);
      lanes.for_each(seen, [=](int j) { s[j] = fast_exp_down(s[j] - top); });
      lanes.for_each(count - seen, [=](int j) { s[seen + j] = 0; });
      const double sum = lanes.sum(seen, [=](int j) { return s[j]; });
      lanes.for_each(h, [=](int r) { own[r] *= shrink; });
      lanes.wait();
      if (lanes.first()) {
        running(0, c) = top;
        running(1, c) = running(1, c) * shrink + sum;
      }
    });
    member.team_barrier();
    D::product(member, 1, keys.v(first, count), block, 1, o.rows_from(0, h));
  }
  team_for_columns(member, h + 1, n, [=](int c) {
    double* own = o.column(c);
    const double top = running(0, c), sum = running(1, c);
    return [=](int r) { own[r] = r < h ? own[r] / sum : top + math::log(sum); };
  });
  member.team_barrier();
}

/// Adjoint of attend(): qkv becomes the adjoint of the items' own q, k, v (k and v of themselves only); what belongs to
/// log slope is added to *recency_bar; `items` gets what the adjoint by tokens reads. q_bar: [H x n], scores,
/// scores_bar: [kKeys x n], aged: [n].
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void attend_adjoint(const Member& member, const Attention& a, Matrix<double> qkv,
                                           const Keys& keys, const Visible& visible, int most, double slope,
                                           Matrix<const double> o, Matrix<const double> o_bar, Matrix<double> q_bar,
                                           Matrix<double> scores, Matrix<double> scores_bar, double* aged,
                                           Matrix<double> items, double* recency_bar) {
  const int h = a.width, n = qkv.columns;
  team_for_lanes(member, n, [=](const Lanes& lanes, int c) {
    double *q = qkv.column(c), *k = q + h, *v = k + h, *own_bar = q_bar.column(c), *item = items.column(c);
    const double *out = o.column(c), *out_bar = o_bar.column(c);
    const double score = a.scale * lanes.sum(h, [=](int r) { return q[r] * k[r]; });
    const double share = lanes.sum(h, [=](int r) { return out_bar[r] * out[r]; });
    const double value = lanes.sum(h, [=](int r) { return out_bar[r] * v[r]; });
    const double p = math::exp(score - out[h]), s_bar = a.scale * p * (value - share);
    lanes.for_each(h, [=](int r) {
      const double own_q = q[r];
      own_bar[r] = s_bar * k[r];
      k[r] = s_bar * own_q;
      v[r] = p * out_bar[r];
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
    const int count = clamp(most - first, kKeys);
    const Matrix block = scores.rows_from(0, count), block_bar = scores_bar.rows_from(0, count);
    D::product(member, a.scale, keys.k_transposed(first, count), qkv.rows_from(0, h), 0, block);
    D::product(member, 1, keys.v_transposed(first, count), o_bar, 0, block_bar);
    team_for_lanes(member, n, [=, &visible](const Lanes& lanes, int c) {
      const double *s = block.column(c), *item = items.column(c);
      double* bar = block_bar.column(c);
      const int age = visible(c) - first, seen = clamp(age, count);
      const double lse = item[2 * h], share = item[2 * h + 1];
      lanes.for_each(seen, [=](int j) { bar[j] = fast_exp(s[j] - slope * (age - j) - lse) * (bar[j] - share); });
      lanes.for_each(count - seen, [=](int j) { bar[seen + j] = 0; });
      const double sum = lanes.sum(seen, [=](int j) { return bar[j] * static_cast<double>(age - j); });
      if (lanes.first()) aged[c] += sum;
    });
    member.team_barrier();
    D::product(member, a.scale, keys.k(first, count), block_bar, 1, q_bar);
  }
  copy(member, q_bar, qkv.rows_from(0, h));
  if (member.team_rank() == 0) *recency_bar -= slope * lane_sum(0, n, [=](int c) { return aged[c]; });
  member.team_barrier();
}

/// Adds items' part to k_bar and v_bar [H x count], the adjoints of keys and values from number `first` of their stream
/// on, a token block. Item c stands at items(c) and sees visible(c) keys. q, o_bar: [H x n], scores, scores_bar:
/// [count x n].
template <class D, class Items, class Visible>
KOKKOS_INLINE_FUNCTION void keys_adjoint(const Member& member, const Attention& a, int first, const Keys& keys,
                                         const Items& items, const Visible& visible, double slope, Matrix<double> k_bar,
                                         Matrix<double> v_bar, Matrix<double> q, Matrix<double> o_bar,
                                         Matrix<double> scores, Matrix<double> scores_bar) {
  const int h = a.width, count = scores.rows, n = scores.columns;
  team_for_columns(member, h, n, [=, &items](int c) {
    const double* item = items(c);
    double *own_q = q.column(c), *own_bar = o_bar.column(c);
    return [=](int r) {
      own_q[r] = item[r];
      own_bar[r] = item[h + r];
    };
  });
  member.team_barrier();
  D::product(member, a.scale, keys.k_transposed(first, count), q, 0, scores);
  D::product(member, 1, keys.v_transposed(first, count), o_bar, 0, scores_bar);
  team_for_lanes(member, n, [=, &items, &visible](const Lanes& lanes, int c) {
    const double* item = items(c);
    double *s = scores.column(c), *bar = scores_bar.column(c);
    const int age = visible(c) - first, seen = clamp(age, count);
    const double lse = item[2 * h], share = item[2 * h + 1];
    lanes.for_each(seen, [=](int j) {
      s[j] = fast_exp(s[j] - slope * (age - j) - lse);
      bar[j] = s[j] * (bar[j] - share);
    });
    lanes.for_each(count - seen, [=](int j) { s[seen + j] = bar[seen + j] = 0; });
  });
  member.team_barrier();
  D::product(member, a.scale, q, transposed(scores_bar), 1, k_bar);
  D::product(member, 1, o_bar, transposed(scores), 1, v_bar);
}

}  // namespace fedpp::gpu::attention
