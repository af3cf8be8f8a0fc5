// The LSTM encoder forward. Histories run in bundles: streams of one client, longest first, advance together, one
// matrix product a layer and step for all that are not over. A point is one step from the state at its slot.
#include "gpu/lstm_work.hpp"

namespace fedpp::gpu::lstm {

namespace {

template <class D>
void embed_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories"_label, team_policy(exec, k.tasks, k.bundle_scratch(k.forward_scratch)),
      FEDPP_KERNEL(const Member& member) {
        Scratch scratch(member, k.bundle_scratch(k.forward_scratch));
        const Bundle bundle(member, b, f, k, batch_only, scratch);
        const Lstm s(b.encoder(bundle.client));
        const double* w = weights_of(b, f, bundle.client, bundle.sample);
        const Stream* streams = bundle.streams;
        int n = bundle.count;
        const Step step(scratch, s, k.most_streams, false);
        double* states = step.next;
        team_for(member, static_cast<Index>(n) * s.state(), [=](Index j) { states[j] = 0; });
        member.team_barrier();
        for (int j = 0;; ++j) {
          while (n > 0 && streams[n - 1].tokens < j) --n;  // streams that have a slot j
          if (n == 0) break;
          const auto hidden = [&](Index c) { return k.hidden.data() + (streams[c].slot + j) * k.gates; };
          hidden_parts<D>(member, s, w, n, hidden, step);
          while (n > 0 && streams[n - 1].tokens == j) --n;
          if (n == 0) break;
          advance<D>(
              member, s, w, n, true, [&](Index c) -> const double* { return states + c * s.state(); }, hidden,
              [&](Index c) { return f.token_input.data() + streams[c].input + static_cast<Index>(j) * s.inputs; },
              [&](Index c) { return s.type_width > 0 ? f.token_type(streams[c].token + j) : -1; }, step);
          team_for_columns(member, s.state(), n, [&](int c) {
            double* next = k.memory.data() + (streams[c].slot + j + 1) * k.stride;
            const double* from = states + static_cast<Index>(c) * s.state();
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
        const Step step(scratch, s, kPointColumns, false);
        const double* memory = k.memory.data() + b.problem_slot(piece.problem) * k.stride;
        const double* hidden = k.hidden.data() + b.problem_slot(piece.problem) * k.gates;
        for (int first = 0; first < piece.n; first += kPointColumns) {
          const int n = piece.n - first < kPointColumns ? piece.n - first : kPointColumns;
          const int* slot = piece.slot + first;
          const double* input = piece.input + static_cast<Index>(first) * s.inputs;
          advance<D>(
              member, s, piece.weights, n, false,
              [&](Index c) { return memory + static_cast<Index>(slot[c]) * k.stride; },
              [&](Index c) { return hidden + static_cast<Index>(slot[c]) * k.gates; },
              [=](Index c) { return input + c * s.inputs; }, [](Index) { return -1; }, step);
          double* h = piece.embedding + static_cast<Index>(first) * s.width;
          const double* top = step.next + s.state() - 2 * s.width;
          team_for_2d(member, s.width, n, [=](int r, int c) {
            h[r + static_cast<Index>(c) * s.width] = top[r + static_cast<Index>(c) * s.state()];
          });
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
