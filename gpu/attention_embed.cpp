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
        const int n = block.n, h = a.width, first = block.first;
        const Index token = block.base + first;
        const ForwardScratch s(member, k, a);
        double* x = k.token_x.data() + token * k.x_stride() + layer * h;
        if (layer == 0) {
          const double* input =
              f.token_input.data() + b.stream_input(block.stream) + static_cast<Index>(first) * a.inputs;
          const Index type = b.stream_token(block.stream) + first;
          enter<D>(member, a, w, n, input, [&](int c) { return f.token_type(type + c); }, s.in, x, k.x_stride());
        } else {
          const double* below = x - h;
          project<D>(member, a, w, layer - 1, n, below, k.x_stride(), s.qkv);
          attend<D>(
              member, a, n, s.qkv, k.keys(block.base, block.tokens, a, layer - 1), [=](int c) { return first + c; },
              first + n - 1, math::exp(w[a.recency(layer - 1)]), s.o, s.scores, s.running);
          double* kept = k.token_o.data() + token * k.token_o_stride() + (layer - 1) * (h + 1);
          copy(member, h + 1, n, s.o, h + 1, kept, k.token_o_stride());
          feed_forward<D>(member, a, w, layer - 1, n, below, k.x_stride(), s.o, h + 1, s.y, s.u, x, k.x_stride());
        }
        project<D>(member, a, w, layer, n, x, k.x_stride(), s.qkv);
        keep(member, k.keys(block.base, block.tokens, a, layer), first, n, s.qkv, k.with_gradient);
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
        const int h = a.width;
        const ForwardScratch s(member, k, a);
        const Index slots = b.problem_slot(piece.problem);
        for (int begin = 0; begin < piece.n;) {
          const Run run(b, k, piece, begin);
          const int n = run.n, stream_slot = run.stream_slot;
          const int* slot = piece.slot + begin;
          enter<D>(
              member, a, piece.weights, n, piece.input + static_cast<Index>(begin) * a.inputs, [](int) { return -1; },
              s.in, s.x, h);
          for (int layer = 0; layer < a.layers; ++layer) {
            project<D>(member, a, piece.weights, layer, n, s.x, h, s.qkv);
            attend<D>(
                member, a, n, s.qkv, k.keys(slots + stream_slot, run.tokens, a, layer),
                [=](int c) { return slot[c] - stream_slot; }, run.most, math::exp(piece.weights[a.recency(layer)]), s.o,
                s.scores, s.running);
            if (k.with_gradient) {
              double* kept = k.point_o.data() + (piece.point + begin) * k.point_o_stride() + layer * (h + 1);
              copy(member, h + 1, n, s.o, h + 1, kept, k.point_o_stride());
            }
            feed_forward<D>(member, a, piece.weights, layer, n, s.x, h, s.o, h + 1, s.y, s.u, s.x, h);
          }
          double* out = piece.embedding + static_cast<Index>(begin) * h;
          const double* last = s.x;
          team_for(member, static_cast<Index>(h) * n, [=](Index j) { out[j] = fast_tanh(last[j]); });
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
