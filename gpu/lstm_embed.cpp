// The LSTM encoder forward. Histories run in bundles: streams of one client, longest first, advance together, one
// matrix product a layer and step for all that are not over. A point is one step from the state at its slot.
#include "gpu/lstm_work.hpp"

namespace fedpp::gpu::lstm {

namespace {

template <class D>
void embed_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories"_label, team_policy(exec, k.tasks, k.forward_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Bundle bundle(member, b, f, k, batch_only);
        const Lstm s(b.encoder(bundle.client));
        const double* w = weights_of(b, f, bundle.client, bundle.sample);
        const int* active = bundle.streams;
        int n = bundle.count;
        Scratch scratch(member, k.forward_scratch);
        const Step step(scratch, s, false);
        for (int j = 0;; ++j) {
          while (n > 0 && b.stream_tokens(active[n - 1]) < j) --n;  // streams that have a slot j
          if (n == 0) break;
          const auto state = [&](Index c) -> const double* {
            return k.memory.data() + bundle.slot(b, c, j) * k.stride;
          };
          const auto hidden = [&](Index c) { return k.hidden.data() + bundle.slot(b, c, j) * k.gates; };
          hidden_parts<D>(member, s, w, n, state, hidden, step);
          int going_on = n;
          while (going_on > 0 && b.stream_tokens(active[going_on - 1]) == j) --going_on;
          if (going_on == 0) break;
          advance<D>(
              member, s, w, going_on, true, state, hidden,
              [&](Index c) {
                return f.token_input.data() + b.stream_input(active[c]) + static_cast<Index>(j) * s.inputs;
              },
              [&](Index c) { return s.type_width > 0 ? f.token_type(b.stream_token(active[c]) + j) : -1; }, step);
          team_for_columns(member, s.state(), going_on, [&](int c) {
            double* next = k.memory.data() + bundle.slot(b, c, j + 1) * k.stride;
            const double* from = step.next + static_cast<Index>(c) * s.state();
            return [=](int r) { next[r] = from[r]; };
          });
          member.team_barrier();
        }
      });
}

template <class D>
void embed_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::points"_label, team_policy(exec, b.piece_tasks, k.forward_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kLstm || (batch_only && !piece.selected(b, f))) return;
        const Lstm s(e);
        Scratch scratch(member, k.forward_scratch);
        const Step step(scratch, s, false);
        const double* memory = k.memory.data() + b.problem_slot(piece.problem) * k.stride;
        const double* hidden = k.hidden.data() + b.problem_slot(piece.problem) * k.gates;
        for (int first = 0; first < piece.n; first += kStepColumns) {
          const int n = piece.n - first < kStepColumns ? piece.n - first : kStepColumns;
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
