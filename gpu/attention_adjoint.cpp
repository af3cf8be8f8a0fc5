// The attention encoder's adjoint: blocks of scores are formed again from the log-sum-exp of each item, once by items
// (for q) and once by tokens (for k and v), so that every sum has one owner and a fixed order.
#include "gpu/attention_work.hpp"

namespace fedpp::gpu::attention {

namespace {

/// Back through `layer` for n items: from s.x_bar(), the adjoint of x_(l+1), to the part of x_l's that passes by the
/// attention and to s.qkv(), the adjoint of the items' own q, k, v. s.o() holds o; x is x_l.
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void layer_adjoint(const Member& member, const Attention& a, const double* w, int layer, int n,
                                          const double* x, int ldx, const AdjointScratch& s, const Keys& keys,
                                          const Visible& visible, int most, double* items, int item_stride,
                                          double* gradient) {
  const int ld = a.width + 1;
  feed_inside<D>(member, a, w, layer, n, x, ldx, s.o(), ld, s.y(), s.u());
  feed_forward_adjoint<D>(member, a, w, layer, n, s.o(), ld, s.y(), s.u(), s.x_bar(), s.o_bar(), s.u_bar(), gradient);
  project<D>(member, a, w, layer, n, x, ldx, s.qkv());
  attend_adjoint<D>(member, a, n, s.qkv(), keys, visible, most, math::exp(w[a.recency(layer)]), s.o(), s.o_bar(),
                    s.q_bar(), s.scores(), s.scores_bar(), s.aged(), items, item_stride, gradient + a.recency(layer));
}

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::attention::points_adjoint"_label, team_policy(exec, b.piece_tasks, k.adjoint_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kAttention || f.step_taken(piece.client) == 0) return;
        const Attention a(e);
        const int h = a.width, item_stride = k.point_item_stride();
        double* items = k.point_items.data() + piece.point * item_stride;
        if (!piece.selected(b, f)) {  // it may lie among points of the mini-batch: no part in their tokens' sums
          team_for(member, static_cast<Index>(piece.n) * item_stride, [=](Index j) { items[j] = 0; });
          return;
        }
        double* gradient = f.piece_gradient.data() + piece.gradient;
        team_for(member, a.weights(), [=](Index j) { gradient[j] = 0; });
        const AdjointScratch s(member, k, a);
        const Index slots = b.problem_slot(piece.problem);
        member.team_barrier();
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n, stream_slot = run.stream_slot;
          const int* slot = piece.slot + begin;
          const double* input = piece.input + static_cast<Index>(begin) * a.inputs;
          const auto no_type = [](int) { return -1; };
          const auto load_o = [&](int layer) {
            const double* kept = k.point_o.data() + (piece.point + begin) * k.point_o_stride() + layer * (h + 1);
            copy(member, h + 1, n, kept, k.point_o_stride(), s.o(), h + 1);
            member.team_barrier();
          };
          enter<D>(member, a, piece.weights, n, input, no_type, s.in(), s.x(0), h);
          for (int layer = 0; layer + 1 < a.layers; ++layer) {
            load_o(layer);
            feed_forward<D>(member, a, piece.weights, layer, n, s.x(layer), h, s.o(), h + 1, s.y(), s.u(),
                            s.x(layer + 1), h);
          }
          const double* embedding = piece.embedding + static_cast<Index>(begin) * h;
          const double* embedding_bar = piece.adjoint + static_cast<Index>(begin) * h;
          double* x_bar = s.x_bar();
          team_for(member, static_cast<Index>(h) * n,
                   [=](Index j) { x_bar[j] = embedding_bar[j] * (1 - embedding[j] * embedding[j]); });
          for (int layer = a.layers - 1; layer >= 0; --layer) {
            load_o(layer);
            layer_adjoint<D>(
                member, a, piece.weights, layer, n, s.x(layer), h, s, k.keys(slots + stream_slot, run.tokens, a, layer),
                [=](int c) { return slot[c] - stream_slot; }, run.most,
                items + static_cast<Index>(begin) * item_stride + layer * a.item(), item_stride, gradient);
            project_adjoint<D>(member, a, piece.weights, layer, n, s.x(layer), h, s.qkv(), x_bar, h, gradient);
          }
          gather_inputs(member, a, piece.weights, n, input, no_type, s.in());
          affine_adjoint<D>(member, h, a.below(), n, x_bar, h, s.in(), a.below(), gradient + a.embed_in());
          begin += n;
        }
      });
}

/// Tokens as items of `layer` (not the last one): from the adjoint of x_(l+1) to token_items, token_qkv_bar,
/// token_x_bar.
template <class D>
void adjoint_items(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer) {
  Kokkos::parallel_for(
      "fedpp::attention::items_adjoint"_label, team_policy(exec, k.tasks, k.adjoint_scratch),
      FEDPP_KERNEL(const Member& member) {
        const int task = member.league_rank();
        const TokenBlock block(b, k, task);
        const Attention a(b.encoder(block.client));
        if (layer >= a.layers - 1 || f.step_taken(block.client) == 0 || !in_mini_batch(b, f, block.realisation)) return;
        const double* w = weights_of(b, f, block.client, block.sample);
        double* gradient = k.gradient.data() + k.task_gradient(task);
        const int n = block.n, h = a.width, first = block.first;
        const Index token = block.base + first;
        const AdjointScratch s(member, k, a);
        const double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        double* x_bar = k.token_x_bar.data() + token * k.width;
        const double* kept = k.token_o.data() + token * k.token_o_stride() + layer * (h + 1);
        copy(member, h + 1, n, kept, k.token_o_stride(), s.o(), h + 1);
        copy(member, h, n, x_bar, k.width, s.x_bar(), h);
        member.team_barrier();
        layer_adjoint<D>(
            member, a, w, layer, n, x, k.x_stride(), s, k.keys(block.base, block.tokens, a, layer),
            [=](int c) { return first + c; }, first + n - 1,
            k.token_items.data() + token * k.token_item_stride() + layer * a.item(), k.token_item_stride(), gradient);
        copy(member, 3 * h, n, s.qkv(), 3 * h, k.token_qkv_bar.data() + token * 3 * k.width, 3 * k.width);
        copy(member, h, n, s.x_bar(), h, x_bar, k.width);
      });
}

/// Tokens as keys and values of `layer`: what all items that see them pass back, down to token_x_bar by x_l; in layer 0
/// on to the input.
template <class D>
void adjoint_keys(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer) {
  Kokkos::parallel_for(
      "fedpp::attention::keys_adjoint"_label, team_policy(exec, k.tasks, k.keys_scratch),
      FEDPP_KERNEL(const Member& member) {
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
        const KeysScratch s(member, k, a);
        const Keys keys = k.keys(block.base, block.tokens, a, layer);
        const double slope = math::exp(w[a.recency(layer)]);
        double *k_bar = s.qkv_bar() + h, *v_bar = s.qkv_bar() + 2 * h;
        // What the tokens passed back as items: nothing in the last layer, where they are none.
        if (last)
          team_for(member, static_cast<Index>(3 * h) * n, [=](Index j) { s.qkv_bar()[j] = 0; });
        else
          copy(member, 3 * h, n, k.token_qkv_bar.data() + token * 3 * k.width, 3 * k.width, s.qkv_bar(), 3 * h);
        member.team_barrier();
        // Points: those at the slots after the block's first token.
        const int i = block.realisation, item_stride = k.point_item_stride();
        const Index slot = b.slot(i) + b.stream_slot(block.stream);
        const Index begin = k.points.begin(slot + first + 1), end = k.points.begin(slot + block.tokens + 1);
        const double* point_items =
            k.point_items.data() + b.problem_point(b.problem(i) + block.sample) * item_stride + layer * a.item();
        const int columns = b.columns(i), stream_slot = b.stream_slot(block.stream);
        for (Index p = begin; p < end; p += kItems) {
          const int count = static_cast<int>(end - p < kItems ? end - p : kItems);
          keys_adjoint<D>(
              member, a, first, n, keys, count,
              [&](int c) { return point_items + static_cast<Index>(k.points.point(p + c)) * item_stride; },
              [&](int c) {
                const int point = k.points.point(p + c);
                return (point < columns ? f.slot(b.column(i) + point)
                                        : f.inducing_slot(b.vector(i) + point - columns)) -
                       stream_slot;
              },
              slope, k_bar, v_bar, 3 * h, s.q(), s.o_bar(), s.scores(), s.scores_bar());
        }
        // Tokens: those after the block's first one.
        if (!last) {
          const double* items = k.token_items.data() + block.base * k.token_item_stride() + layer * a.item();
          for (int j = first + 1; j < block.tokens; j += kItems) {
            const int count = clamp(block.tokens - j, kItems);
            keys_adjoint<D>(
                member, a, first, n, keys, count,
                [&](int c) { return items + static_cast<Index>(j + c) * k.token_item_stride(); },
                [=](int c) { return j + c; }, slope, k_bar, v_bar, 3 * h, s.q(), s.o_bar(), s.scores(), s.scores_bar());
          }
        }
        double* x_bar = k.token_x_bar.data() + token * k.width;
        if (last)
          team_for(member, static_cast<Index>(h) * n, [=](Index j) { s.x_bar()[j] = 0; });
        else
          copy(member, h, n, x_bar, k.width, s.x_bar(), h);
        member.team_barrier();
        const double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        project_adjoint<D>(member, a, w, layer, n, x, k.x_stride(), s.qkv_bar(), s.x_bar(), h, gradient);
        if (layer > 0) {
          copy(member, h, n, s.x_bar(), h, x_bar, k.width);
          return;
        }
        const Index type = b.stream_token(block.stream) + first;
        const double* input =
            f.token_input.data() + b.stream_input(block.stream) + static_cast<Index>(first) * a.inputs;
        gather_inputs(member, a, w, n, input, [&](int c) { return f.token_type(type + c); }, s.in());
        affine_adjoint<D>(member, h, a.below(), n, s.x_bar(), h, s.in(), a.below(), gradient + a.embed_in());
        if (a.type_width == 0) return;
        D::gemm(member, Op::kTranspose, Op::kNone, a.below(), n, h, 1.0, w + a.embed_in(), h, s.x_bar(), h, 0.0,
                s.in_bar(), a.below());
        team_for(member, a.type_width, [&](Index r) {  // tokens of a type share a column: one thread a row
          for (int c = 0; c < n; ++c)
            gradient[a.type_width * f.token_type(type + c) + r] += s.in_bar()[c * a.below() + a.inputs + r];
        });
      });
}

}  // namespace

void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work) {
  with_dense([&]<class D>() {
    adjoint_points<D>(exec, batch, fields, work);
    for (int layer = work.layers - 1; layer >= 0; --layer) {
      if (layer + 1 < work.layers) adjoint_items<D>(exec, batch, fields, work, layer);
      adjoint_keys<D>(exec, batch, fields, work, layer);
    }
  });
}

}  // namespace fedpp::gpu::attention
