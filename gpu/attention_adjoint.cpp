// The attention encoder's adjoint: blocks of scores are formed again from the log-sum-exp of each item, once by items
// (for q) and once by tokens (for k and v), so that every sum has one owner and a fixed order.
#include "gpu/attention_work.hpp"

namespace fedpp::gpu::attention {

namespace {

/// Back through `layer` for items: from s.x_bar(), the adjoint of x_(l+1), to the part of x_l's that passes by the
/// attention and to s.qkv(), the adjoint of the items' own q, k, v. s.o() holds o; x is x_l.
template <class D, class Visible>
KOKKOS_INLINE_FUNCTION void layer_adjoint(const Member& member, const Attention& a, const double* w, int layer,
                                          Matrix<const double> x, const AdjointScratch& s, const Keys& keys,
                                          const Visible& visible, int most, Matrix<double> items, double* gradient) {
  const int n = x.columns;
  feed_inside<D>(member, a, w, layer, x, s.o(n), s.y(n), s.u(n));
  feed_forward_adjoint<D>(member, a, w, layer, s.o(n), s.y(n), s.u(n), s.x_bar(n), s.o_bar(n), s.u_bar(n), gradient);
  affine<D>(member, w + a.qkv(layer), x, s.qkv(n));
  attend_adjoint<D>(member, a, s.qkv(n), keys, visible, most, math::exp(w[a.recency(layer)]), s.o(n), s.o_bar(n),
                    s.q_bar(n), s.scores(n), s.scores_bar(n), s.aged(), items, gradient + a.recency(layer));
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
        if (!piece.selected(b, f)) {  // it may lie among points of the mini-batch: no part in their tokens' sums
          const Matrix items = k.point_items.part(0, k.point_items.stride, piece.point, piece.n);
          team_for(member, items.size(), [=](Index at) { items[at] = 0; });
          return;
        }
        double* gradient = f.piece_gradient.data() + piece.gradient;
        team_for(member, a.weights(), [=](Index j) { gradient[j] = 0; });
        const AdjointScratch s(member, k, a);
        const Index slots = b.problem_slot(piece.problem);
        const Matrix inputs(piece.input, a.inputs, piece.n);
        const Matrix embeddings(piece.embedding, a.width, piece.n), adjoints(piece.adjoint, a.width, piece.n);
        member.team_barrier();
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n, stream_slot = run.stream_slot;
          const Index point = piece.point + begin;
          const int* slot = piece.slot + begin;
          const Matrix input = inputs.columns_from(begin, n);
          const Matrix x_bar = s.x_bar(n);
          const auto no_type = [](int) { return -1; };
          const auto load_o = [&](int layer) {
            copy(member, k.point_o.part(layer, a.width + 1, point, n), s.o(n));
            member.team_barrier();
          };
          enter<D>(member, a, piece.weights, input, no_type, s.in(n), s.x(0, n));
          for (int layer = 0; layer + 1 < a.layers; ++layer) {
            load_o(layer);
            feed_forward<D>(member, a, piece.weights, layer, s.x(layer, n), s.o(n), s.y(n), s.u(n), s.x(layer + 1, n));
          }
          const Matrix embedding = embeddings.columns_from(begin, n), embedding_bar = adjoints.columns_from(begin, n);
          team_for(member, x_bar.size(),
                   [=](Index at) { x_bar[at] = embedding_bar[at] * (1 - embedding[at] * embedding[at]); });
          for (int layer = a.layers - 1; layer >= 0; --layer) {
            load_o(layer);
            layer_adjoint<D>(
                member, a, piece.weights, layer, s.x(layer, n), s, k.keys(slots + stream_slot, run.tokens, a, layer),
                [=](int c) { return slot[c] - stream_slot; }, run.most, k.point_items.part(layer, a.item(), point, n),
                gradient);
            affine_adjoint<D>(member, piece.weights + a.qkv(layer), s.qkv(n), s.x(layer, n), gradient + a.qkv(layer), 1,
                              x_bar);
          }
          gather_inputs(member, a, piece.weights, input, no_type, s.in(n));
          affine_adjoint<D>(member, x_bar, s.in(n), gradient + a.embed_in());
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
        const int n = block.n, first = block.first;
        const Index token = block.base + first;
        const AdjointScratch s(member, k, a);
        const Matrix x_bar = k.token_x_bar.part(0, a.width, token, n);
        copy(member, k.token_o.part(layer, a.width + 1, token, n), s.o(n));
        copy(member, x_bar, s.x_bar(n));
        member.team_barrier();
        layer_adjoint<D>(
            member, a, w, layer, k.token_x.part(layer, a.width, token, n), s,
            k.keys(block.base, block.tokens, a, layer), [=](int c) { return first + c; }, first + n - 1,
            k.token_items.part(layer, a.item(), token, n), gradient);
        copy(member, s.qkv(n), k.token_qkv_bar.part(0, 3 * a.width, token, n));
        copy(member, s.x_bar(n), x_bar);
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
        const Attention a(b.encoder(block.client));
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
        const Matrix qkv_bar = s.qkv_bar(n), k_bar = qkv_bar.rows_from(h, h), v_bar = qkv_bar.rows_from(2 * h, h);
        // What the tokens passed back as items: nothing in the last layer, where they are none.
        if (last)
          team_for(member, qkv_bar.size(), [=](Index at) { qkv_bar[at] = 0; });
        else
          copy(member, k.token_qkv_bar.part(0, 3 * a.width, token, n), qkv_bar);
        member.team_barrier();
        const auto add = [&](int count, const auto& items, const auto& visible) {
          keys_adjoint<D>(member, a, first, keys, items, visible, slope, k_bar, v_bar, s.q(count), s.o_bar(count),
                          s.scores(n, count), s.scores_bar(n, count));
        };
        // Points: those at the slots after the block's first token.
        const int i = block.realisation, stream_slot = b.stream_slot(block.stream), columns = b.columns(i);
        const Index slot = b.slot(i) + stream_slot;
        const Index begin = k.points.begin(slot + first + 1), end = k.points.begin(slot + block.tokens + 1);
        const Matrix point_items =
            k.point_items.part(layer, a.item(), b.problem_point(b.problem(i) + block.sample), columns + b.inducing(i));
        for (Index p = begin; p < end; p += kItems) {
          const int count = static_cast<int>(end - p < kItems ? end - p : kItems);
          add(
              count, [&](int c) { return point_items.column(k.points.point(p + c)); },
              [&](int c) {
                const int point = k.points.point(p + c);
                return (point < columns ? f.slot(b.column(i) + point)
                                        : f.inducing_slot(b.vector(i) + point - columns)) -
                       stream_slot;
              });
        }
        // Tokens: those after the block's first one.
        if (!last) {
          const Matrix items = k.token_items.part(layer, a.item(), block.base, block.tokens);
          for (int j = first + 1; j < block.tokens; j += kItems)
            add(
                clamp(block.tokens - j, kItems), [=](int c) { return items.column(j + c); },
                [=](int c) { return j + c; });
        }
        const Matrix x_bar = s.x_bar(n), kept_x_bar = k.token_x_bar.part(0, a.width, token, n);
        if (last)
          team_for(member, x_bar.size(), [=](Index at) { x_bar[at] = 0; });
        else
          copy(member, kept_x_bar, x_bar);
        member.team_barrier();
        affine_adjoint<D>(member, w + a.qkv(layer), qkv_bar, k.token_x.part(layer, a.width, token, n),
                          gradient + a.qkv(layer), 1, x_bar);
        if (layer > 0) {
          copy(member, x_bar, kept_x_bar);
          return;
        }
        const Matrix input(f.token_input.data() + b.stream_input(block.stream), a.inputs, block.tokens);
        const Index token_type = b.stream_token(block.stream) + first;
        const auto type = [&](int c) { return f.token_type(token_type + c); };
        gather_inputs(member, a, w, input.columns_from(first, n), type, s.in(n));
        affine_adjoint<D>(member, x_bar, s.in(n), gradient + a.embed_in());
        if (a.type_width == 0) return;
        D::product(member, 1, transposed(Matrix(w + a.embed_in(), h, a.below())), x_bar, 0, s.in_bar(n));
        team_add_by_group(member, s.in_bar(n).rows_from(a.inputs, a.type_width), type,
                          Matrix(gradient, a.type_width, a.types));
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
