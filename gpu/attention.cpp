// The attention encoder (spec 1.7; equations and layout of the weights: docs/encoders.md), forward and adjoint.
//
// Tokens and points are items that attend to the tokens of their stream before them. Scores exist only as blocks of
// kKeys x kItems: the forward pass keeps a running maximum and sum, the adjoint forms the blocks again from the
// log-sum-exp of each item, once by items (for q) and once by tokens (for k and v), so that every sum has one owner and
// a fixed order. Memory is linear in the length of a stream.
#include <algorithm>
#include <cmath>

#include "gpu/attention_layers.hpp"
#include "gpu/encoders.hpp"
#include "gpu/history.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu {

namespace attention_encoder {
namespace {

using namespace attention;

constexpr double kReach = 4;      ///< tokens that the first layer looks back over at the start, and from layer to layer
constexpr double kStartSd = 0.1;  ///< of the slopes' logarithms

/// The operator's arrays, copied into kernels by value. Strides are the largest of the batch.
struct Work {
  int width = 0, layers = 0, below = 0;  ///< largest of the batch, for strides and scratch
  int tasks = 0;                         ///< blocks of up to kItems tokens of a stream, times samples
  Array<int> block_stream, block_first, task_block, task_sample, client_tasks;
  Array<Index> task_gradient;
  Array<int> slot_stream;       ///< [slot] its stream
  Array<double> token_kv;       ///< [problem_slot][L][2H] k, v (a token's slot is the one before it)
  Array<double> token_x;        ///< [problem_slot][L][H] x_l
  Array<double> token_o;        ///< [problem_slot][L - 1][H + 1] o, log-sum-exp
  Array<double> point_o;        ///< [problem_point][L][H + 1]
  Array<double> point_items;    ///< [problem_point][L][2H + 2]
  Array<double> token_items;    ///< [problem_slot][L - 1][2H + 2]
  Array<double> token_qkv_bar;  ///< [problem_slot][3H] of the layer at hand
  Array<double> token_x_bar;    ///< [problem_slot][H]
  Array<double> gradient;       ///< partial sums of the token blocks
  SlotPoints points;

  KOKKOS_INLINE_FUNCTION int kv_stride() const { return 2 * width * layers; }
  KOKKOS_INLINE_FUNCTION int x_stride() const { return width * layers; }
  KOKKOS_INLINE_FUNCTION int o_stride() const { return (width + 1) * layers; }
  KOKKOS_INLINE_FUNCTION int item_stride() const { return (2 * width + 2) * layers; }
  KOKKOS_INLINE_FUNCTION Keys keys(Index token, const Attention& a, int layer) const {
    const double* k = token_kv.data() + token * kv_stride() + 2 * a.width * layer;
    return {k, k + a.width, kv_stride()};
  }
  /// Per team: inputs, x of every layer, o; q k v; y, u; scores, running maxima and sums.
  KOKKOS_INLINE_FUNCTION Index forward_scratch() const {
    return static_cast<Index>(below + width * (layers + 1) + (width + 1) + 3 * width + 2 * width + kKeys + 2) * kItems;
  }
  /// And: adjoints of q k v, x, o, u, v; scores' adjoints.
  KOKKOS_INLINE_FUNCTION Index adjoint_scratch() const {
    return forward_scratch() + static_cast<Index>(3 * width + 4 * width + kKeys) * kItems;
  }
};

/// A block of tokens for one sample.
struct TokenBlock {
  int client, sample, stream, realisation, first, n;
  Index base;  ///< the stream's first token in per-(sample, slot) arrays

  KOKKOS_INLINE_FUNCTION TokenBlock(const Batch& b, const Work& k, int task) {
    const int block = k.task_block(task);
    sample = k.task_sample(task);
    stream = k.block_stream(block);
    realisation = b.stream_realisation(stream);
    client = b.client(realisation);
    first = k.block_first(block);
    n = clamp(b.stream_tokens(stream) - first, kItems);
    base = b.problem_slot(b.problem(realisation) + sample) + b.stream_slot(stream);
  }
};

KOKKOS_INLINE_FUNCTION const double* weights_of(const Batch& b, const Fields& f, int client, int sample) {
  return f.weights.data() + b.weights(client) + static_cast<Index>(sample) * b.encoder(client).parameters();
}

/// Tokens of all streams through layer - 1, as far as k and v of `layer` need it.
template <class D>
void embed_tokens(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::attention::tokens"_label, team_policy(exec, k.tasks, k.forward_scratch()),
      KOKKOS_LAMBDA(const Member& member) {
        const TokenBlock block(b, k, member.league_rank());
        if (batch_only && !in_mini_batch(b, f, block.realisation)) return;
        const Attention a(b.encoder(block.client));
        if (layer >= a.layers) return;
        const double* w = weights_of(b, f, block.client, block.sample);
        const int n = block.n, h = a.width, first = block.first;
        const Index token = block.base + first;
        Scratch scratch(member, k.forward_scratch());
        double* in = scratch.take(static_cast<Index>(a.below()) * kItems);
        double* y = scratch.take(static_cast<Index>(h) * kItems);
        double* u = scratch.take(static_cast<Index>(h) * kItems);
        double* qkv = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* o = scratch.take(static_cast<Index>(h + 1) * kItems);
        double* scores = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* running = scratch.take(2 * kItems);
        double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        if (layer == 0) {
          const double* input =
              f.token_input.data() + b.stream_input(block.stream) + static_cast<Index>(first) * a.inputs;
          const Index type = b.stream_token(block.stream) + first;
          enter<D>(
              member, a, w, n, input, [=](Index c) { return a.type_width > 0 ? f.token_type(type + c) : -1; }, in, x,
              k.x_stride());
        } else {
          const double* below = x - h;
          project<D>(member, a, w, layer - 1, n, below, k.x_stride(), qkv);
          attend<D>(
              member, h, n, qkv, k.keys(block.base, a, layer - 1), [=](Index c) { return first + static_cast<int>(c); },
              math::exp(w[a.recency(layer - 1)]), o, scores, running);
          double* kept = k.token_o.data() + token * k.o_stride() + (layer - 1) * (h + 1);
          copy(member, h + 1, n, o, h + 1, kept, k.o_stride());
          feed_forward<D>(member, a, w, layer - 1, n, below, k.x_stride(), o, h + 1, y, u, x, k.x_stride());
        }
        project<D>(member, a, w, layer, n, x, k.x_stride(), qkv);
        double* kv = k.token_kv.data() + token * k.kv_stride() + 2 * h * layer;
        copy(member, 2 * h, n, qkv + h, 3 * h, kv, k.kv_stride());
      });
}

/// Points of a piece that lie behind each other in one stream, at most kItems of them.
struct Run {
  int first = 0, n = 0;
  int stream_slot = 0;  ///< first slot of the stream within the realisation

  KOKKOS_INLINE_FUNCTION Run(const Batch& b, const Work& k, const Piece& piece, int begin) : first(begin) {
    const Index slots = b.slot(piece.realisation);
    const int stream = k.slot_stream(slots + piece.slot[begin]);
    while (n < kItems && begin + n < piece.n && k.slot_stream(slots + piece.slot[begin + n]) == stream) ++n;
    stream_slot = b.stream_slot(stream);
  }
};

template <class D>
void embed_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::attention::points"_label, team_policy(exec, b.piece_tasks, k.forward_scratch()),
      KOKKOS_LAMBDA(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kAttention || (batch_only && !piece.selected(b, f))) return;
        const Attention a(e);
        const int h = a.width;
        Scratch scratch(member, k.forward_scratch());
        double* in = scratch.take(static_cast<Index>(a.below()) * kItems);
        double* x = scratch.take(static_cast<Index>(h) * kItems);
        double* next = scratch.take(static_cast<Index>(h) * kItems);
        double* y = scratch.take(static_cast<Index>(h) * kItems);
        double* u = scratch.take(static_cast<Index>(h) * kItems);
        double* qkv = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* o = scratch.take(static_cast<Index>(h + 1) * kItems);
        double* scores = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* running = scratch.take(2 * kItems);
        const Index slots = b.problem_slot(piece.problem);
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n;
          const int* slot = piece.slot + begin;
          enter<D>(
              member, a, piece.weights, n, piece.input + static_cast<Index>(begin) * a.inputs, [](Index) { return -1; },
              in, x, h);
          for (int layer = 0; layer < a.layers; ++layer) {
            project<D>(member, a, piece.weights, layer, n, x, h, qkv);
            attend<D>(
                member, h, n, qkv, k.keys(slots + run.stream_slot, a, layer),
                [=](Index c) { return slot[c] - run.stream_slot; }, math::exp(piece.weights[a.recency(layer)]), o,
                scores, running);
            if (k.point_o.extent(0) > 0) {
              double* kept = k.point_o.data() + (piece.point + begin) * k.o_stride() + layer * (h + 1);
              copy(member, h + 1, n, o, h + 1, kept, k.o_stride());
            }
            feed_forward<D>(member, a, piece.weights, layer, n, x, h, o, h + 1, y, u, next, h);
            double* swap = x;
            x = next;
            next = swap;
          }
          double* out = piece.embedding + static_cast<Index>(begin) * h;
          const double* last = x;
          team_for(member, static_cast<Index>(h) * n, [=](Index j) { out[j] = fast_tanh(last[j]); });
          member.team_barrier();
          begin += n;
        }
      });
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

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::attention::points_adjoint"_label, team_policy(exec, b.piece_tasks, k.adjoint_scratch()),
      KOKKOS_LAMBDA(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kAttention || f.step_taken(piece.client) == 0) return;
        const Attention a(e);
        const int h = a.width;
        double* items = k.point_items.data() + piece.point * k.item_stride();
        if (!piece.selected(b, f)) {  // it may lie among points of the mini-batch: no part in their tokens' sums
          team_for(member, static_cast<Index>(piece.n) * k.item_stride(), [=](Index j) { items[j] = 0; });
          return;
        }
        double* gradient = f.piece_gradient.data() + piece.gradient;
        team_for(member, a.weights(), [=](Index j) { gradient[j] = 0; });
        Scratch scratch(member, k.adjoint_scratch());
        double* in = scratch.take(static_cast<Index>(a.below()) * kItems);
        double* x = scratch.take(static_cast<Index>(h) * (a.layers + 1) * kItems);  // [L + 1][H x n]
        double* y = scratch.take(static_cast<Index>(h) * kItems);
        double* u = scratch.take(static_cast<Index>(h) * kItems);
        double* qkv = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* o = scratch.take(static_cast<Index>(h + 1) * kItems);
        double* scores = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* scores_bar = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* qkv_bar = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* x_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* o_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* u_bar = scratch.take(static_cast<Index>(h) * kItems);
        const Index slots = b.problem_slot(piece.problem);
        member.team_barrier();
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n;
          const int* slot = piece.slot + begin;
          const auto x_of = [=](int layer) { return x + static_cast<Index>(layer) * h * kItems; };
          const auto load_o = [=](int layer) {
            const double* kept = k.point_o.data() + (piece.point + begin) * k.o_stride() + layer * (h + 1);
            copy(member, h + 1, n, kept, k.o_stride(), o, h + 1);
            member.team_barrier();
          };
          enter<D>(
              member, a, piece.weights, n, piece.input + static_cast<Index>(begin) * a.inputs, [](Index) { return -1; },
              in, x, h);
          for (int layer = 0; layer + 1 < a.layers; ++layer) {
            load_o(layer);
            feed_forward<D>(member, a, piece.weights, layer, n, x_of(layer), h, o, h + 1, y, u, x_of(layer + 1), h);
          }
          const double* embedding = piece.embedding + static_cast<Index>(begin) * h;
          const double* embedding_bar = piece.adjoint + static_cast<Index>(begin) * h;
          team_for(member, static_cast<Index>(h) * n,
                   [=](Index j) { x_bar[j] = embedding_bar[j] * (1 - embedding[j] * embedding[j]); });
          for (int layer = a.layers - 1; layer >= 0; --layer) {
            load_o(layer);
            feed_forward<D>(member, a, piece.weights, layer, n, x_of(layer), h, o, h + 1, y, u, x_of(layer + 1), h);
            feed_forward_adjoint<D>(member, a, piece.weights, layer, n, o, h + 1, y, u, x_bar, o_bar, u_bar, gradient);
            project<D>(member, a, piece.weights, layer, n, x_of(layer), h, qkv);
            attend_adjoint<D>(
                member, a, n, qkv, k.keys(slots + run.stream_slot, a, layer),
                [=](Index c) { return slot[c] - run.stream_slot; }, math::exp(piece.weights[a.recency(layer)]), o,
                o_bar, qkv_bar, scores, scores_bar,
                items + static_cast<Index>(begin) * k.item_stride() + layer * a.item(), k.item_stride(),
                gradient + a.recency(layer));
            project_adjoint<D>(member, a, piece.weights, layer, n, x_of(layer), h, qkv_bar, x_bar, h, gradient);
          }
          affine_adjoint<D>(member, h, a.below(), n, x_bar, h, in, a.below(), gradient + a.embed_in());
          begin += n;
        }
      });
}

/// Tokens as items of `layer` (not the last one): from the adjoint of x_(l+1) to token_items, token_qkv_bar,
/// token_x_bar.
template <class D>
void adjoint_items(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer) {
  Kokkos::parallel_for(
      "fedpp::attention::items_adjoint"_label, team_policy(exec, k.tasks, k.adjoint_scratch()),
      KOKKOS_LAMBDA(const Member& member) {
        const int task = member.league_rank();
        const TokenBlock block(b, k, task);
        const Attention a(b.encoder(block.client));
        if (layer >= a.layers - 1 || f.step_taken(block.client) == 0 || !in_mini_batch(b, f, block.realisation)) return;
        const double* w = weights_of(b, f, block.client, block.sample);
        double* gradient = k.gradient.data() + k.task_gradient(task);
        const int n = block.n, h = a.width, first = block.first;
        const Index token = block.base + first;
        Scratch scratch(member, k.adjoint_scratch());
        double* y = scratch.take(static_cast<Index>(h) * kItems);
        double* u = scratch.take(static_cast<Index>(h) * kItems);
        double* next = scratch.take(static_cast<Index>(h) * kItems);
        double* qkv = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* o = scratch.take(static_cast<Index>(h + 1) * kItems);
        double* scores = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* scores_bar = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* qkv_bar = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* o_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* u_bar = scratch.take(static_cast<Index>(h) * kItems);
        const double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        double* x_bar = k.token_x_bar.data() + token * k.width;
        double* own = scratch.take(static_cast<Index>(h) * kItems);
        const double* kept = k.token_o.data() + token * k.o_stride() + layer * (h + 1);
        copy(member, h + 1, n, kept, k.o_stride(), o, h + 1);
        copy(member, h, n, x_bar, k.width, own, h);
        member.team_barrier();
        feed_forward<D>(member, a, w, layer, n, x, k.x_stride(), o, h + 1, y, u, next, h);
        feed_forward_adjoint<D>(member, a, w, layer, n, o, h + 1, y, u, own, o_bar, u_bar, gradient);
        project<D>(member, a, w, layer, n, x, k.x_stride(), qkv);
        attend_adjoint<D>(
            member, a, n, qkv, k.keys(block.base, a, layer), [=](Index c) { return first + static_cast<int>(c); },
            math::exp(w[a.recency(layer)]), o, o_bar, qkv_bar, scores, scores_bar,
            k.token_items.data() + token * k.item_stride() + layer * a.item(), k.item_stride(),
            gradient + a.recency(layer));
        double* kept_bar = k.token_qkv_bar.data() + token * 3 * k.width;
        copy(member, 3 * h, n, qkv_bar, 3 * h, kept_bar, 3 * k.width);
        copy(member, h, n, own, h, x_bar, k.width);
      });
}

/// Tokens as keys and values of `layer`: what all items that see them pass back, down to token_x_bar by x_l; in layer 0
/// on to the input.
template <class D>
void adjoint_keys(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer) {
  Kokkos::parallel_for(
      "fedpp::attention::keys_adjoint"_label, team_policy(exec, k.tasks, k.adjoint_scratch()),
      KOKKOS_LAMBDA(const Member& member) {
        const int task = member.league_rank();
        const TokenBlock block(b, k, task);
        const Encoder& e = b.encoder(block.client);
        const Attention a(e);
        if (layer >= a.layers || f.step_taken(block.client) == 0) return;
        double* gradient = k.gradient.data() + k.task_gradient(task);
        const bool last = layer == a.layers - 1;
        if (last) {  // the first launch that this block sees
          team_for(member, a.weights(), [=](Index j) { gradient[j] = 0; });
          member.team_barrier();
        }
        if (!in_mini_batch(b, f, block.realisation)) return;
        const double* w = weights_of(b, f, block.client, block.sample);
        const int n = block.n, h = a.width, first = block.first;
        const Index token = block.base + first;
        Scratch scratch(member, k.adjoint_scratch());
        double* q = scratch.take(static_cast<Index>(h) * kItems);
        double* o_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* k_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* v_bar = scratch.take(static_cast<Index>(h) * kItems);
        double* qkv_bar = scratch.take(static_cast<Index>(3 * h) * kItems);
        double* own = scratch.take(static_cast<Index>(h) * kItems);
        double* in = scratch.take(static_cast<Index>(a.below()) * kItems);
        double* in_bar = scratch.take(static_cast<Index>(a.below()) * kItems);
        double* scores = scratch.take(static_cast<Index>(kKeys) * kItems);
        double* scores_bar = scratch.take(static_cast<Index>(kKeys) * kItems);
        const Keys keys = k.keys(block.base, a, layer);
        const double slope = math::exp(w[a.recency(layer)]);
        team_for(member, static_cast<Index>(h) * n, [=](Index j) { k_bar[j] = v_bar[j] = 0; });
        member.team_barrier();
        // Points: those at the slots after the block's first token.
        const int i = block.realisation;
        const Index slot = b.slot(i) + b.stream_slot(block.stream);
        const Index begin = k.points.begin(slot + first + 1);
        const Index end = k.points.begin(slot + b.stream_tokens(block.stream) + 1);
        const double* point_items =
            k.point_items.data() + b.problem_point(b.problem(i) + block.sample) * k.item_stride() + layer * a.item();
        const int columns = b.columns(i), stream_slot = b.stream_slot(block.stream);
        for (Index p = begin; p < end; p += kItems) {
          const int count = static_cast<int>(end - p < kItems ? end - p : kItems);
          keys_adjoint<D>(
              member, h, first, n, keys, count,
              [=](Index c) { return point_items + static_cast<Index>(k.points.point(p + c)) * k.item_stride(); },
              [=](Index c) {
                const int point = k.points.point(p + c);
                return (point < columns ? f.slot(b.column(i) + point)
                                        : f.inducing_slot(b.vector(i) + point - columns)) -
                       stream_slot;
              },
              slope, k_bar, v_bar, q, o_bar, scores, scores_bar);
        }
        // Tokens: those after the block's first one.
        if (!last) {
          const double* items = k.token_items.data() + block.base * k.item_stride() + layer * a.item();
          for (int j = first + 1; j < b.stream_tokens(block.stream); j += kItems) {
            const int count = clamp(b.stream_tokens(block.stream) - j, kItems);
            keys_adjoint<D>(
                member, h, first, n, keys, count, [=](Index c) { return items + (j + c) * k.item_stride(); },
                [=](Index c) { return j + static_cast<int>(c); }, slope, k_bar, v_bar, q, o_bar, scores, scores_bar);
          }
        }
        const double* kept_bar = k.token_qkv_bar.data() + token * 3 * k.width;
        double* x_bar = k.token_x_bar.data() + token * k.width;
        team_for(member, n, [=](Index c) {
          for (int r = 0; r < h; ++r) {
            qkv_bar[r + c * 3 * h] = last ? 0 : kept_bar[r + c * 3 * k.width];
            qkv_bar[h + r + c * 3 * h] = k_bar[r + c * h] + (last ? 0 : kept_bar[h + r + c * 3 * k.width]);
            qkv_bar[2 * h + r + c * 3 * h] = v_bar[r + c * h] + (last ? 0 : kept_bar[2 * h + r + c * 3 * k.width]);
            own[r + c * h] = last ? 0 : x_bar[r + c * k.width];
          }
        });
        member.team_barrier();
        const double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        project_adjoint<D>(member, a, w, layer, n, x, k.x_stride(), qkv_bar, own, h, gradient);
        if (layer > 0) {
          copy(member, h, n, own, h, x_bar, k.width);
          return;
        }
        const Index type = b.stream_token(block.stream) + first;
        const auto type_of = [=](Index c) { return a.type_width > 0 ? f.token_type(type + c) : -1; };
        const double* input =
            f.token_input.data() + b.stream_input(block.stream) + static_cast<Index>(first) * a.inputs;
        enter<D>(member, a, w, n, input, type_of, in, q, h);  // for `in`
        affine_adjoint<D>(member, h, a.below(), n, own, h, in, a.below(), gradient + a.embed_in());
        if (a.type_width == 0) return;
        D::gemm(member, Op::kTranspose, Op::kNone, a.below(), n, h, 1.0, w + a.embed_in(), h, own, h, 0.0, in_bar,
                a.below());
        team_for(member, a.type_width, [=](Index r) {  // tokens of a type share a column: one thread a row
          for (int c = 0; c < n; ++c)
            gradient[a.type_width * f.token_type(type + c) + r] += in_bar[c * a.below() + a.inputs + r];
        });
      });
}

void lay_out_blocks(const Batch& batch, const std::vector<Encoder>& encoders, bool with_gradient, Work& k) {
  std::vector<int> client, realisation, tokens, samples;
  to_host(batch.client, client);
  to_host(batch.stream_realisation, realisation);
  to_host(batch.stream_tokens, tokens);
  to_host(batch.samples, samples);
  std::vector<int> block_stream, block_first, task_block, task_sample, client_tasks, slot_stream;
  std::vector<Index> task_gradient;
  Index gradient = 0;
  for (int stream = 0; stream < batch.streams; ++stream) {
    slot_stream.insert(slot_stream.end(), tokens[stream] + 1, stream);
    const int c = client[realisation[stream]];
    while (static_cast<int>(client_tasks.size()) <= c) client_tasks.push_back(static_cast<int>(task_block.size()));
    if (encoders[c].kind != EncoderKind::kAttention) continue;
    for (int first = 0; first < tokens[stream]; first += kItems) {
      for (int sample = 0; sample < samples[c]; ++sample) {
        task_block.push_back(static_cast<int>(block_stream.size()));
        task_sample.push_back(sample);
        task_gradient.push_back(gradient);
        gradient += encoders[c].weights();
      }
      block_stream.push_back(stream);
      block_first.push_back(first);
    }
  }
  client_tasks.resize(batch.clients + 1, static_cast<int>(task_block.size()));
  k.tasks = static_cast<int>(task_block.size());
  k.block_stream = to_device<int>("block_stream", block_stream);
  k.block_first = to_device<int>("block_first", block_first);
  k.task_block = to_device<int>("token_task_block", task_block);
  k.task_sample = to_device<int>("token_task_sample", task_sample);
  k.client_tasks = to_device<int>("token_client_tasks", client_tasks);
  k.task_gradient = to_device<Index>("token_gradient_offset", task_gradient);
  k.slot_stream = to_device<int>("slot_stream", slot_stream);
  if (with_gradient) k.gradient = Array<double>("token_gradient", static_cast<std::size_t>(gradient));
}

class AttentionOperator : public EncoderOperator {
 public:
  AttentionOperator(const Batch& batch, const Fields& fields, bool with_gradient) {
    std::vector<Encoder> encoders;
    to_host(batch.encoder, encoders);
    for (const Encoder& e : encoders) {
      if (e.kind != EncoderKind::kAttention) continue;
      k_.width = std::max(k_.width, e.width);
      k_.layers = std::max(k_.layers, e.layers);
      k_.below = std::max(k_.below, e.inputs + e.type_width);
    }
    lay_out_blocks(batch, encoders, with_gradient, k_);
    const auto doubles = [](const char* label, Index n) {
      return Array<double>(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)),
                           static_cast<std::size_t>(n));
    };
    const Index slots = batch.lengths.problem_slot, points = batch.lengths.problem_point;
    k_.token_kv = doubles("attention_kv", slots * k_.kv_stride());
    k_.token_x = doubles("attention_x", slots * k_.x_stride());
    k_.token_o = doubles("attention_o", slots * k_.o_stride());
    if (!with_gradient) return;
    k_.point_o = doubles("attention_point_o", points * k_.o_stride());
    k_.point_items = doubles("attention_point_items", points * k_.item_stride());
    k_.token_items = doubles("attention_token_items", slots * k_.item_stride());
    k_.token_qkv_bar = doubles("attention_qkv_bar", slots * 3 * k_.width);
    k_.token_x_bar = doubles("attention_x_bar", slots * k_.width);
    k_.points = make_slot_points(batch, fields);
  }

  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    with_dense([&]<class D>() {
      for (int layer = 0; layer < k_.layers; ++layer) embed_tokens<D>(exec, batch, fields, k_, layer, batch_only);
      embed_points<D>(exec, batch, fields, k_, batch_only);
    });
  }

  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    with_dense([&]<class D>() {
      adjoint_points<D>(exec, batch, fields, k_);
      for (int layer = k_.layers - 1; layer >= 0; --layer) {
        if (layer + 1 < k_.layers) adjoint_items<D>(exec, batch, fields, k_, layer);
        adjoint_keys<D>(exec, batch, fields, k_, layer);
      }
    });
    sum_gradients(exec, batch, fields, EncoderKind::kAttention, k_.client_tasks, k_.task_gradient, k_.gradient);
  }

 private:
  Work k_;
};

class AttentionFamily : public EncoderFamily {
 public:
  const char* name() const override { return "attention"; }
  bool reads_history() const override { return true; }
  int dimension(const EncoderShape& shape) const override { return shape.width; }
  int weights(const EncoderShape& shape) const override { return Attention(shape).weights(); }

  /// Matrices by the number of their inputs; a layer looks back over about four times as many tokens as the one below.
  Start start(const EncoderShape& shape) const override {
    const Attention a(shape);
    Start start{std::vector<double>(a.weights(), 0.0),
                std::vector<double>(a.weights(), 1 / std::sqrt(static_cast<double>(a.width + 1)))};
    std::fill_n(start.sd.begin(), a.embed_in(), 1.0);
    std::fill_n(start.sd.begin() + a.embed_in(), a.width * (a.below() + 1),
                1 / std::sqrt(static_cast<double>(a.below() + 1)));
    for (int layer = 0; layer < a.layers; ++layer) {
      start.mean[a.recency(layer)] = -(layer + 1) * std::log(kReach);
      start.sd[a.recency(layer)] = kStartSd;
    }
    return start;
  }

  std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields& fields,
                                                 bool with_gradient) const override {
    return std::make_unique<AttentionOperator>(batch, fields, with_gradient);
  }

  Index workspace(const Encoder& encoder, Index tokens, Index streams, Index points, Index,
                  bool with_gradient) const override {
    const Index h = encoder.width, layers = encoder.layers, slots = tokens + streams;
    Index total = slots * (3 * h + h + 1) * layers;
    if (with_gradient)
      total += points * (3 * h + 3) * layers + slots * ((2 * h + 2) * layers + 4 * h) +
               (tokens / kItems + streams) * encoder.weights();
    return total;
  }

  /// Beside the layers' matrices: q'k and v of every (item, earlier token), and in the adjoint of items and of tokens
  /// seven such products. A point stands in the middle of its stream, taken on the average.
  Operations operations(const Encoder& e, const std::vector<int>& streams, Index points) const override {
    double tokens = 0, squares = 0;
    for (const double length : streams) {
      tokens += length;
      squares += length * length;
    }
    const double by_points = tokens > 0 ? 0.5 * static_cast<double>(points) * squares / tokens : 0;
    const double pairs = by_points * e.layers + 0.5 * squares * (e.layers - 1);
    const Operations layers = EncoderFamily::operations(e, streams, points);
    return {layers.embed + 4 * e.width * pairs, layers.adjoint + 14 * e.width * pairs};
  }
};

}  // namespace
}  // namespace attention_encoder

const EncoderFamily& attention_family() {
  static const attention_encoder::AttentionFamily family;
  return family;
}

}  // namespace fedpp::gpu
