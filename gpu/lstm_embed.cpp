// The LSTM encoder forward. Histories run in bundles: streams of one client, longest first, advance together, one
// matrix product a layer and step for all that are not over. A point is one step from the state at its slot.
#include "gpu/lstm_work.hpp"

namespace fedpp::gpu::lstm {

namespace {

template <class D>
void embed_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories"_label, team_policy(exec, k.tasks, bundle_scratch(k.most_streams, k.forward_scratch)),
      FEDPP_KERNEL(const Member& member) {
        Scratch scratch(member, bundle_scratch(k.most_streams, k.forward_scratch));
        const Bundle bundle(member, b, f, k, batch_only, scratch);
        const Lstm s(b.encoder(bundle.client));
        const double* w = weights_of(b, f, bundle.client, bundle.sample);
        const Stream* streams = bundle.streams;
        int n = bundle.count;
        const Step all(scratch, s, s.below(0), k.most_streams, false);
        const Matrix states = all.first(n).next;
        team_for(member, states.size(), [=](Index j) { states[j] = 0; });
        member.team_barrier();
        for (int j = 0;; ++j) {
          while (n > 0 && streams[n - 1].tokens < j) --n;  // streams that have a slot j
          if (n == 0) break;
          const auto hidden = [&](int c) { return k.hidden_parts(streams[c].slot + j); };
          hidden_parts<D>(member, s, w, hidden, all.first(n));
          while (n > 0 && streams[n - 1].tokens == j) --n;
          if (n == 0) break;
          advance<D>(
              member, s, w, [=](int c) { return states.column(c); }, hidden,
              [&](int c) { return f.token_input.data() + streams[c].input + static_cast<Index>(j) * s.inputs; },
              [&](int c) { return s.type_width > 0 ? f.token_type(streams[c].token + j) : -1; }, all.first(n));
          team_for_columns(member, states.rows, n, [&](int c) {
            double* next = k.state(streams[c].slot + j + 1);
            const double* from = states.column(c);
            return [=](int r) { next[r] = from[r]; };
          });
        }
      });
}

template <class D>
void embed_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::points"_label, team_policy(exec, b.piece_tasks, kPointColumns * k.forward_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kLstm || (batch_only && !piece.selected(b, f))) return;
        const Lstm s(e);
        Scratch scratch(member, kPointColumns * k.forward_scratch);
        const Step all(scratch, s, s.inputs, kPointColumns, false);
        const Index slots = b.problem_slot(piece.problem);
        const Matrix inputs(piece.input, s.inputs, piece.n);
        const Matrix embedding(piece.embedding, s.width, piece.n);
        for (int first = 0; first < piece.n; first += kPointColumns) {
          const int n = piece.n - first < kPointColumns ? piece.n - first : kPointColumns;
          const int* slot = piece.slot + first;
          const Step step = all.first(n);
          advance<D>(
              member, s, piece.weights, [&](int c) { return k.state(slots + slot[c]); },
              [&](int c) { return k.hidden_parts(slots + slot[c]); }, [=](int c) { return inputs.column(first + c); },
              [](int) { return -1; }, step);
          const Matrix h = embedding.columns_from(first, n), top = s.h_of(step.next, s.layers - 1);
          team_for_2d(member, s.width, n, [=](int r, int c) { h(r, c) = top(r, c); });
          member.team_barrier();
        }
      });
}

}  // namespace

void embed(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work, bool batch_only) {
  with_dense([&]<class D>() {
    embed_histories<D>(exec, batch, fields, work, batch_only);
    embed_points<D>(exec, batch, fields, work, batch_only);
  });
}

}  // namespace fedpp::gpu::lstm
