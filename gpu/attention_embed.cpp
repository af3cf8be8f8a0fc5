// The attention encoder forward: layer by layer, all tokens' k and v; then the points, which go through all layers at
// once. A running maximum and sum of an item's scores make memory linear in the length of a stream.
#include "gpu/attention_work.hpp"

namespace fedpp::gpu::attention {

namespace {

/// Tokens of all streams through layer - 1, as far as k and v of `layer` need it.
template <class D>
void embed_tokens(const Exec& exec, const Batch& b, const Fields& f, const Work& k, int layer, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::attention::tokens"_label, team_policy(exec, k.tasks, k.forward_scratch),
      FEDPP_KERNEL(const Member& member) {
        const TokenBlock block(b, k, member.league_rank());
        if (batch_only && !in_mini_batch(b, f, block.realisation)) return;
        const Attention a(b.encoder(block.client));
        if (layer >= a.layers) return;
        const double* w = weights_of(b, f, block.client, block.sample);
        const int n = block.n, first = block.first;
        const Index token = block.base + first;
        const ForwardScratch s(member, k, a);
        const Matrix x = k.token_x.part(layer, a.width, token, n);
        if (layer == 0) {
          const Matrix input(f.token_input.data() + b.stream_input(block.stream), a.inputs, block.tokens);
          const Index type = b.stream_token(block.stream) + first;
          enter<D>(
              member, a, w, input.columns_from(first, n), [&](int c) { return f.token_type(type + c); }, s.in(n), x);
        } else {
          const Matrix below = k.token_x.part(layer - 1, a.width, token, n);
          affine<D>(member, w + a.qkv(layer - 1), below, s.qkv(n));
          attend<D>(
              member, a, s.qkv(n), k.keys(block.base, block.tokens, a, layer - 1), [=](int c) { return first + c; },
              first + n - 1, math::exp(w[a.recency(layer - 1)]), s.o(n), s.scores(n), s.running(n));
          copy(member, s.o(n), k.token_o.part(layer - 1, a.width + 1, token, n));
          feed_forward<D>(member, a, w, layer - 1, below, s.o(n), s.y(n), s.u(n), x);
        }
        affine<D>(member, w + a.qkv(layer), x, s.qkv(n));
        keep(member, k.keys(block.base, block.tokens, a, layer), first, s.qkv(n), k.with_gradient);
      });
}

template <class D>
void embed_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::attention::points"_label, team_policy(exec, b.piece_tasks, k.forward_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kAttention || (batch_only && !piece.selected(b, f))) return;
        const Attention a(e);
        const ForwardScratch s(member, k, a);
        const Index slots = b.problem_slot(piece.problem);
        const Matrix input(piece.input, a.inputs, piece.n);
        const Matrix embedding(piece.embedding, a.width, piece.n);
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n, stream_slot = run.stream_slot;
          const int* slot = piece.slot + begin;
          const Matrix x = s.x(n);
          enter<D>(member, a, piece.weights, input.columns_from(begin, n), [](int) { return -1; }, s.in(n), x);
          for (int layer = 0; layer < a.layers; ++layer) {
            affine<D>(member, piece.weights + a.qkv(layer), x, s.qkv(n));
            attend<D>(
                member, a, s.qkv(n), k.keys(slots + stream_slot, run.tokens, a, layer),
                [=](int c) { return slot[c] - stream_slot; }, run.most, math::exp(piece.weights[a.recency(layer)]),
                s.o(n), s.scores(n), s.running(n));
            if (k.with_gradient) copy(member, s.o(n), k.point_o.part(layer, a.width + 1, piece.point + begin, n));
            feed_forward<D>(member, a, piece.weights, layer, x, s.o(n), s.y(n), s.u(n), x);
          }
          const Matrix out = embedding.columns_from(begin, n);
          team_for(member, out.size(), [=](Index at) { out[at] = fast_tanh(x[at]); });
          member.team_barrier();
          begin += n;
        }
      });
}

}  // namespace

void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only) {
  with_dense([&]<class D>() {
    for (int layer = 0; layer < work.layers; ++layer) embed_tokens<D>(exec, batch, fields, work, layer, batch_only);
    embed_points<D>(exec, batch, fields, work, batch_only);
  });
}

}  // namespace fedpp::gpu::attention
