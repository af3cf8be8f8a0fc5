// What the launches of the attention encoder share: arrays, blocks of tokens, runs of points, scratch.
#pragma once

#include "gpu/attention_scores.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/history.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu::attention {

/// Numbers of every layer for every item, in columns that are as long as the batch's largest encoder needs.
struct PerItem {
  Array<double> all;
  int stride = 0;  ///< numbers of an item

  /// `rows` numbers of a layer, of n items from number `first` on.
  KOKKOS_INLINE_FUNCTION Matrix<double> part(int layer, int rows, Index first, int n) const {
    return {all.data() + first * stride + layer * rows, rows, n, stride};
  }
};

/// The operator's arrays, copied into kernels by value.
struct Work {
  int layers = 0;  ///< largest of the batch
  bool with_gradient = false;
  Index forward_scratch = 0, adjoint_scratch = 0, keys_scratch = 0;
  int tasks = 0;  ///< blocks of up to kItems tokens of a stream, times samples
  Array<int> block_stream, block_first, task_block, task_sample, client_tasks;
  Array<Index> task_gradient;
  Array<int> slot_stream;  ///< [slot] its stream
  PerItem token_kv;        ///< [problem_slot][kv]: a stream's Keys of every layer
  PerItem token_x;         ///< [problem_slot][L][H] x_l (a token's slot is the one before it)
  PerItem token_o;         ///< [problem_slot][L - 1][H + 1] o, log-sum-exp
  PerItem point_o;         ///< [problem_point][L][H + 1]
  PerItem point_items;     ///< [problem_point][L][2H + 2]
  PerItem token_items;     ///< [problem_slot][L - 1][2H + 2]
  PerItem token_qkv_bar;   ///< [problem_slot][3H] of the layer at hand
  PerItem token_x_bar;     ///< [problem_slot][H]
  Array<double> gradient;  ///< partial sums of the token blocks
  SlotPoints points;

  /// Of the stream whose first token stands at `base` in per-(sample, slot) arrays.
  KOKKOS_INLINE_FUNCTION Keys keys(Index base, int tokens, const Attention& a, int layer) const {
    const Index before = static_cast<Index>(layer) * Keys::parts(with_gradient) * a.width * tokens;
    return {token_kv.all.data() + base * token_kv.stride + before, a.width, tokens};
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

/// A team's scratch for up to kItems items: matrices with a column for each of n. Those that are not in use at the same
/// time share their place. All are found from where the first one begins: a device's thread has no registers for a
/// pointer to each.
class ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION ItemScratch(const Member& member, Index doubles, const Attention& a)
      : a_(a), start_(Scratch(member, doubles).take(doubles)) {}

 protected:
  /// Behind `vectors` arrays [H x kItems] and `rows` arrays [kItems].
  KOKKOS_INLINE_FUNCTION double* at(int vectors, int rows) const {
    return start_ + (vectors * a_.width + rows) * kItems;
  }

  const Attention a_;

 private:
  double* start_;
};

/// When it embeds.
class ForwardScratch : public ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION ForwardScratch(const Member& member, const Work& k, const Attention& a)
      : ItemScratch(member, k.forward_scratch, a) {}
  KOKKOS_INLINE_FUNCTION Matrix<double> x(int n) const { return {at(0, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> qkv(int n) const { return {at(1, 0), 3 * a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> y(int n) const { return {at(1, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> u(int n) const { return {at(2, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> o(int n) const { return {at(4, 0), a_.width + 1, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> running(int n) const { return {at(5, 1), 2, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> scores(int n) const { return {at(5, 3), kKeys, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> in(int n) const { return {at(5, 3), a_.below(), n}; }
  static Index size(const Attention& a) { return Index{kItems} * (5 * a.width + 3 + score_rows(a, kKeys)); }
};

/// In the adjoint by items.
class AdjointScratch : public ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION AdjointScratch(const Member& member, const Work& k, const Attention& a)
      : ItemScratch(member, k.adjoint_scratch, a) {}
  KOKKOS_INLINE_FUNCTION Matrix<double> x_bar(int n) const { return {at(0, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> qkv(int n) const { return {at(1, 0), 3 * a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> y(int n) const { return {at(1, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> u(int n) const { return {at(2, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> u_bar(int n) const { return {at(3, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> q_bar(int n) const { return {at(4, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> o_bar(int n) const { return {at(5, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> o(int n) const { return {at(6, 0), a_.width + 1, n}; }
  KOKKOS_INLINE_FUNCTION double* aged() const { return at(7, 1); }
  KOKKOS_INLINE_FUNCTION Matrix<double> scores_bar(int n) const { return {at(7, 2), kKeys, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> x(int layer, int n) const { return {at(7 + layer, 2 + kKeys), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> scores(int n) const { return {at(7 + a_.layers, 2 + kKeys), kKeys, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> in(int n) const { return {at(7 + a_.layers, 2 + kKeys), a_.below(), n}; }
  static Index size(const Attention& a) {
    return Index{kItems} * ((7 + a.layers) * a.width + 2 + kKeys + score_rows(a, kKeys));
  }
};

/// In the adjoint by tokens, of which there are up to kItems too.
class KeysScratch : public ItemScratch {
 public:
  KOKKOS_INLINE_FUNCTION KeysScratch(const Member& member, const Work& k, const Attention& a)
      : ItemScratch(member, k.keys_scratch, a) {}
  KOKKOS_INLINE_FUNCTION Matrix<double> qkv_bar(int n) const { return {at(0, 0), 3 * a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> q(int n) const { return {at(3, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> x_bar(int n) const { return {at(3, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> o_bar(int n) const { return {at(4, 0), a_.width, n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> scores(int tokens, int n) const { return {at(5, 0), tokens, n, kItems}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> in(int n) const { return {at(5, 0), a_.below(), n}; }
  KOKKOS_INLINE_FUNCTION Matrix<double> scores_bar(int tokens, int n) const {
    return {at(5, score_rows(a_, kItems)), tokens, n, kItems};
  }
  KOKKOS_INLINE_FUNCTION Matrix<double> in_bar(int n) const { return {at(5, score_rows(a_, kItems)), a_.below(), n}; }
  static Index size(const Attention& a) { return Index{kItems} * (5 * a.width + 2 * score_rows(a, kItems)); }
};

/// EncoderOperator's embed(), and adjoint() but for the sum over pieces and token blocks.
void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only);
void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work);

}  // namespace fedpp::gpu::attention
