// What the launches of the attention encoder share: arrays, blocks of tokens, runs of points, scratch.
#pragma once

#include "gpu/attention_scores.hpp"
#include "gpu/history.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu::attention {

/// The operator's arrays, copied into kernels by value. Strides are the largest of the batch.
struct Work {
  int width = 0, layers = 0;  ///< largest of the batch, for strides
  bool with_gradient = false;
  Index forward_scratch = 0, adjoint_scratch = 0, keys_scratch = 0;
  int tasks = 0;  ///< blocks of up to kItems tokens of a stream, times samples
  Array<int> block_stream, block_first, task_block, task_sample, client_tasks;
  Array<Index> task_gradient;
  Array<int> slot_stream;       ///< [slot] its stream
  Array<double> token_kv;       ///< [problem_slot][kv_stride]: a stream's Keys of every layer
  Array<double> token_x;        ///< [problem_slot][L][H] x_l (a token's slot is the one before it)
  Array<double> token_o;        ///< [problem_slot][L - 1][H + 1] o, log-sum-exp
  Array<double> point_o;        ///< [problem_point][L][H + 1]
  Array<double> point_items;    ///< [problem_point][L][2H + 2]
  Array<double> token_items;    ///< [problem_slot][L - 1][2H + 2]
  Array<double> token_qkv_bar;  ///< [problem_slot][3H] of the layer at hand
  Array<double> token_x_bar;    ///< [problem_slot][H]
  Array<double> gradient;       ///< partial sums of the token blocks
  SlotPoints points;

  KOKKOS_INLINE_FUNCTION int kv_stride() const { return Keys::parts(with_gradient) * width * layers; }
  KOKKOS_INLINE_FUNCTION int x_stride() const { return width * layers; }
  KOKKOS_INLINE_FUNCTION int point_o_stride() const { return (width + 1) * layers; }
  KOKKOS_INLINE_FUNCTION int token_o_stride() const { return (width + 1) * (layers - 1); }
  KOKKOS_INLINE_FUNCTION int point_item_stride() const { return (2 * width + 2) * layers; }
  KOKKOS_INLINE_FUNCTION int token_item_stride() const { return (2 * width + 2) * (layers - 1); }
  /// Of the stream whose first token stands at `base` in per-(sample, slot) arrays.
  KOKKOS_INLINE_FUNCTION Keys keys(Index base, int tokens, const Attention& a, int layer) const {
    const Index before = static_cast<Index>(layer) * Keys::parts(with_gradient) * a.width * tokens;
    return {token_kv.data() + base * kv_stride() + before, a.width, tokens};
  }
};

/// A block of tokens for one sample.
struct TokenBlock {
  int client, sample, stream, realisation, first, n, tokens;
  Index base;  ///< the stream's first token in per-(sample, slot) arrays

  KOKKOS_INLINE_FUNCTION TokenBlock(const Batch& b, const Work& k, int task) {
    const int block = k.task_block(task);
    sample = k.task_sample(task);
    stream = k.block_stream(block);
    realisation = b.stream_realisation(stream);
    client = b.client(realisation);
    first = k.block_first(block);
    tokens = b.stream_tokens(stream);
    n = clamp(tokens - first, kItems);
    base = b.problem_slot(b.problem(realisation) + sample) + b.stream_slot(stream);
  }
};

/// Points of a piece that lie behind each other in one stream, at most kItems of them.
struct Run {
  int first, n = 0;
  int stream_slot, tokens;  ///< first slot of the stream within the realisation; its tokens
  int most = 0;             ///< tokens before the latest of the points

  KOKKOS_INLINE_FUNCTION Run(const Batch& b, const Work& k, const Piece& piece, int begin) : first(begin) {
    const int stream = k.slot_stream(b.slot(piece.realisation) + piece.slot[begin]);
    stream_slot = b.stream_slot(stream);
    tokens = b.stream_tokens(stream);
    for (; n < kItems && begin + n < piece.n; ++n) {
      const int before = piece.slot[begin + n] - stream_slot;
      if (before < 0 || before > tokens) break;
      most = before > most ? before : most;
    }
  }
};

KOKKOS_INLINE_FUNCTION int score_rows(const Attention& a, int keys) { return a.below() > keys ? a.below() : keys; }

/// A team's scratch when it embeds up to kItems items, each [. x n]. Arrays that are not in use at the same time share
/// their place.
struct ForwardScratch {
  double *x, *qkv, *o, *running, *scores;
  double *y, *u;  ///< where qkv is
  double* in;     ///< where scores is

  KOKKOS_INLINE_FUNCTION ForwardScratch(const Member& member, const Work& k, const Attention& a) {
    Scratch scratch(member, k.forward_scratch);
    const int vector = a.width * kItems;
    x = scratch.take(vector);
    y = qkv = scratch.take(3 * vector);
    u = y + vector;
    o = scratch.take(vector + kItems);
    running = scratch.take(2 * kItems);
    in = scores = scratch.take(score_rows(a, kKeys) * kItems);
  }
  static Index size(const Attention& a) { return Index{kItems} * (5 * a.width + 3 + score_rows(a, kKeys)); }
};

/// The same for adjoints. All arrays are found from where the first one begins: a device's thread has no registers for
/// a pointer to each.
class ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION ItemScratch(const Member& member, Index doubles, const Attention& a)
      : start_(Scratch(member, doubles).take(doubles)), width_(a.width) {}

 protected:
  /// Behind `vectors` arrays [H x kItems] and `rows` arrays [kItems].
  KOKKOS_INLINE_FUNCTION double* at(int vectors, int rows) const { return start_ + (vectors * width_ + rows) * kItems; }

 private:
  double* start_;
  int width_;
};

/// In the adjoint by items; x is [L][H x n].
class AdjointScratch : public ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION AdjointScratch(const Member& member, const Work& k, const Attention& a)
      : ItemScratch(member, k.adjoint_scratch, a), layers_(a.layers) {}
  KOKKOS_INLINE_FUNCTION double* x_bar() const { return at(0, 0); }
  KOKKOS_INLINE_FUNCTION double* qkv() const { return at(1, 0); }
  KOKKOS_INLINE_FUNCTION double* y() const { return at(1, 0); }
  KOKKOS_INLINE_FUNCTION double* u() const { return at(2, 0); }
  KOKKOS_INLINE_FUNCTION double* u_bar() const { return at(3, 0); }
  KOKKOS_INLINE_FUNCTION double* q_bar() const { return at(4, 0); }
  KOKKOS_INLINE_FUNCTION double* o_bar() const { return at(5, 0); }
  KOKKOS_INLINE_FUNCTION double* o() const { return at(6, 0); }
  KOKKOS_INLINE_FUNCTION double* aged() const { return at(7, 1); }
  KOKKOS_INLINE_FUNCTION double* scores_bar() const { return at(7, 2); }
  KOKKOS_INLINE_FUNCTION double* x(int layer) const { return at(7 + layer, 2 + kKeys); }
  KOKKOS_INLINE_FUNCTION double* scores() const { return at(7 + layers_, 2 + kKeys); }
  KOKKOS_INLINE_FUNCTION double* in() const { return scores(); }
  static Index size(const Attention& a) {
    return Index{kItems} * ((7 + a.layers) * a.width + 2 + kKeys + score_rows(a, kKeys));
  }

 private:
  int layers_;
};

/// In the adjoint by tokens, of which there are up to kItems too.
class KeysScratch : public ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION KeysScratch(const Member& member, const Work& k, const Attention& a)
      : ItemScratch(member, k.keys_scratch, a), rows_(score_rows(a, kItems)) {}
  KOKKOS_INLINE_FUNCTION double* qkv_bar() const { return at(0, 0); }
  KOKKOS_INLINE_FUNCTION double* q() const { return at(3, 0); }
  KOKKOS_INLINE_FUNCTION double* x_bar() const { return at(3, 0); }
  KOKKOS_INLINE_FUNCTION double* o_bar() const { return at(4, 0); }
  KOKKOS_INLINE_FUNCTION double* scores() const { return at(5, 0); }
  KOKKOS_INLINE_FUNCTION double* in() const { return at(5, 0); }
  KOKKOS_INLINE_FUNCTION double* scores_bar() const { return at(5, rows_); }
  KOKKOS_INLINE_FUNCTION double* in_bar() const { return at(5, rows_); }
  static Index size(const Attention& a) { return Index{kItems} * (5 * a.width + 2 * score_rows(a, kItems)); }

 private:
  int rows_;
};

/// EncoderOperator's embed(), and adjoint() but for the sum over pieces and token blocks.
void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only);
void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work);

}  // namespace fedpp::gpu::attention
