// The LSTM encoder's adjoint. Activations are not kept but formed again: the points come first and then the histories,
// backwards in time; what the points and the token of a slot pass back goes through W_h once.
#include "gpu/lstm_work.hpp"

namespace fedpp::gpu::lstm {

namespace {

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::points_adjoint"_label, team_policy(exec, b.piece_tasks, k.adjoint_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kLstm || f.step_taken(piece.client) == 0) return;
        const Lstm s(e);
        const int state = s.state();
        double* out = k.point_adjoint.data() + piece.point * k.back;
        if (!piece.selected(b, f)) {  // its slot may belong to a stream that others of the mini-batch use
          team_for(member, static_cast<Index>(piece.n) * k.back, [=](Index j) { out[j] = 0; });
          return;
        }
        double* gradient = f.piece_gradient.data() + piece.gradient;
        team_for(member, s.weights(), [=](Index j) { gradient[j] = 0; });
        Scratch scratch(member, k.adjoint_scratch);
        const Step step(scratch, s, true);
        const double* memory = k.memory.data() + b.problem_slot(piece.problem) * k.stride;
        const double* hidden = k.hidden.data() + b.problem_slot(piece.problem) * k.gates;
        for (int first = 0; first < piece.n; first += kStepColumns) {
          const int n = piece.n - first < kStepColumns ? piece.n - first : kStepColumns;
          const int* slot = piece.slot + first;
          const double* input = piece.input + static_cast<Index>(first) * s.inputs;
          const double* h_bar = piece.adjoint + static_cast<Index>(first) * s.width;
          const auto previous = [&](Index c) { return memory + static_cast<Index>(slot[c]) * k.stride; };
          const auto type = [](Index) { return -1; };
          advance<D>(
              member, s, piece.weights, n, false, previous,
              [&](Index c) { return hidden + static_cast<Index>(slot[c]) * k.gates; },
              [=](Index c) { return input + c * s.inputs; }, type, step);
          team_for_2d(member, state, n, [=](int r, int c) {
            const int top = r - (state - 2 * s.width);  // h of the last layer
            step.next_adjoint[r + static_cast<Index>(c) * state] =
                top >= 0 && top < s.width ? h_bar[top + static_cast<Index>(c) * s.width] : 0;
          });
          member.team_barrier();
          advance_adjoint<D>(member, s, piece.weights, n, false, previous, type, step, gradient,
                             [&](Index c) { return out + (first + c) * k.back; });
        }
      });
}

template <class D>
void adjoint_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories_adjoint"_label, team_policy(exec, k.tasks, k.adjoint_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Bundle bundle(member, b, f, k, true);
        const int sample = bundle.sample, streams = bundle.count;
        if (f.step_taken(bundle.client) == 0) return;
        const Lstm s(b.encoder(bundle.client));
        const double* w = weights_of(b, f, bundle.client, sample);
        double* gradient = k.gradient.data() + k.task_gradient(member.league_rank());
        team_for(member, s.weights(), [=](Index j) { gradient[j] = 0; });
        if (streams == 0) return;
        const int* active = bundle.streams;
        Scratch scratch(member, k.adjoint_scratch);
        const Step step(scratch, s, true);
        double *back = step.back, *next_adjoint = step.next_adjoint;
        const int width = s.width, stride = s.back();
        team_for(member, static_cast<Index>(streams) * stride, [=](Index j) { back[j] = 0; });
        member.team_barrier();
        int n = 0;
        for (int j = b.stream_tokens(active[0]);; --j) {
          while (n < streams && b.stream_tokens(active[n]) >= j) ++n;
          // By slot j: what its token passed back, and the points that stand there.
          for (int c = 0; c < n; ++c) {
            double* sum = back + static_cast<Index>(c) * stride;
            const int stream = active[c], i = b.stream_realisation(stream);
            const Index at = b.slot(i) + b.stream_slot(stream) + j, first = k.points.begin(at);
            const int points = static_cast<int>(k.points.begin(at + 1) - first);
            if (points == 0) continue;
            const double* adjoints = k.point_adjoint.data() + b.problem_point(b.problem(i) + sample) * k.back;
            team_add_parts(
                member, 0, stride, 1 + points,
                [&](int p) -> const double* {
                  return p == 0 ? sum : adjoints + static_cast<Index>(k.points.point(first + p - 1)) * k.back;
                },
                sum);
          }
          member.team_barrier();
          const auto state = [&](Index c) -> const double* {
            return k.memory.data() + bundle.slot(b, c, j) * k.stride;
          };
          for (int layer = 0; layer < s.layers; ++layer) {
            const double* z = back + 5 * width * layer;
            gather_hidden(member, s, layer, n, state, step);
            D::gemm(member, Op::kNone, Op::kTranspose, 4 * width, width + 1, n, 1.0, z, stride, step.h, width + 1, 1.0,
                    gradient + s.hidden_weight(layer), 4 * width);
            if (j > 0)
              D::gemm(member, Op::kTranspose, Op::kNone, width, n, 4 * width, 1.0, w + s.hidden_weight(layer),
                      4 * width, z, stride, 0.0, next_adjoint + 2 * width * layer, s.state());
          }
          if (j == 0) break;
          team_for_2d(member, width * s.layers, n, [=](int r, int c) {
            const int layer = r / width, u = r % width;
            next_adjoint[c * s.state() + 2 * width * layer + width + u] =
                back[static_cast<Index>(c) * stride + 5 * width * layer + 4 * width + u];
          });
          member.team_barrier();
          // Through token j - 1 to the slot before it.
          const auto previous = [&](Index c) -> const double* {
            return k.memory.data() + bundle.slot(b, c, j - 1) * k.stride;
          };
          const auto type = [&](Index c) {
            return s.type_width > 0 ? f.token_type(b.stream_token(active[c]) + j - 1) : -1;
          };
          advance<D>(
              member, s, w, n, true, previous,
              [&](Index c) -> const double* { return k.hidden.data() + bundle.slot(b, c, j - 1) * k.gates; },
              [&](Index c) {
                return f.token_input.data() + b.stream_input(active[c]) + static_cast<Index>(j - 1) * s.inputs;
              },
              type, step);
          advance_adjoint<D>(member, s, w, n, true, previous, type, step, gradient,
                             [=](Index c) { return back + c * stride; });
        }
      });
}

}  // namespace

void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work) {
  with_dense([&]<class D>() {
    adjoint_points<D>(exec, batch, fields, work);
    adjoint_histories<D>(exec, batch, fields, work);
  });
}

}  // namespace fedpp::gpu::lstm
