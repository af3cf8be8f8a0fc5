// The LSTM encoder's adjoint. Activations are not kept but formed again: the points come first and then the histories,
// backwards in time; what the points and the token of a slot pass back goes through W_h once, and takes the place of the
// slot's hidden parts, so that products over whole histories give the gradient by W_h.
#include "gpu/lstm_work.hpp"

namespace fedpp::gpu::lstm {

namespace {

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::points_adjoint"_label, team_policy(exec, b.piece_tasks, kPointColumns * k.adjoint_scratch),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kLstm || f.step_taken(piece.client) == 0) return;
        const Lstm s(e);
        const Matrix out(k.passed_back(piece.point), k.back, piece.n);
        if (!piece.selected(b, f)) {  // its slot may belong to a stream that others of the mini-batch use
          team_for(member, out.size(), [=](Index j) { out[j] = 0; });
          return;
        }
        double* gradient = f.piece_gradient.data() + piece.gradient;
        team_for(member, s.weights(), [=](Index j) { gradient[j] = 0; });
        Scratch scratch(member, kPointColumns * k.adjoint_scratch);
        const Step all(scratch, s, s.inputs, kPointColumns, true);
        const Index slots = b.problem_slot(piece.problem);
        const Matrix inputs(piece.input, s.inputs, piece.n);
        const Matrix adjoint(piece.adjoint, s.width, piece.n);
        for (int first = 0; first < piece.n; first += kPointColumns) {
          const int n = piece.n - first < kPointColumns ? piece.n - first : kPointColumns;
          const int* slot = piece.slot + first;
          const Step step = all.first(n);
          const auto previous = [&](int c) { return k.state(slots + slot[c]); };
          const auto type = [](int) { return -1; };
          advance<D>(
              member, s, piece.weights, previous, [&](int c) { return k.hidden_parts(slots + slot[c]); },
              [=](int c) { return inputs.column(first + c); }, type, step);
          team_for_2d(member, s.cells(), n, [=](int r, int c) {
            const int top = r - (s.cells() - s.width);  // h of the last layer
            step.h_adjoint(r, c) = top >= 0 ? adjoint(top, first + c) : 0;
            step.z(s.gates() + r, c) = 0;
          });
          member.team_barrier();
          advance_adjoint<D>(member, s, piece.weights, previous, type, step, gradient);
          team_for_2d(member, s.back(), n, [=](int r, int c) { out(r, first + c) = step.z(r, c); });
        }
      });
}

template <class D>
void adjoint_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories_adjoint"_label,
      team_policy(exec, k.tasks, bundle_scratch(k.most_streams, k.adjoint_scratch)),
      FEDPP_KERNEL(const Member& member) {
        Scratch scratch(member, bundle_scratch(k.most_streams, k.adjoint_scratch));
        const Bundle bundle(member, b, f, k, true, scratch);
        const Stream* streams = bundle.streams;
        if (f.step_taken(bundle.client) == 0) return;
        const Lstm s(b.encoder(bundle.client));
        const double* w = weights_of(b, f, bundle.client, bundle.sample);
        double* gradient = k.gradient.data() + k.task_gradient(member.league_rank());
        team_for(member, s.weights(), [=](Index j) { gradient[j] = 0; });
        if (bundle.count == 0) return;
        const Step all(scratch, s, s.below(0), k.most_streams, true);
        int n = 0;
        for (int j = static_cast<int>(streams[0].tokens);; --j) {
          const int going_on = n;
          while (n < bundle.count && streams[n].tokens >= j) ++n;
          const Step step = all.first(n);
          // By slot j: what its token passed back, and the points that stand there.
          for (int c = 0; c < n; ++c) {
            double* sum = step.z.column(c);
            const Index first = k.points.begin(streams[c].slot_points + j);
            const int points = static_cast<int>(k.points.begin(streams[c].slot_points + j + 1) - first);
            if (points == 0 && c < going_on) continue;
            const Index own = streams[c].point;
            team_add_parts(
                member, 0, s.back(), 1 + points,
                [&](int p) -> const double* {
                  if (p == 0) return c < going_on ? sum : nullptr;
                  return k.passed_back(own + k.points.point(first + p - 1));
                },
                sum);
          }
          member.team_barrier();
          team_for_columns(member, s.gates(), n, [&](int c) {
            double* by_hidden = k.hidden_parts(streams[c].slot + j);
            const double* from = step.z.column(c);
            return [=](int u) { by_hidden[u] = from[u]; };
          });
          if (j == 0) break;
          for (int layer = 0; layer < s.layers; ++layer)
            D::product(member, 1, transposed(s.hidden_matrix(w, layer)), s.gates_of(step.z, layer), 0,
                       s.units_of(step.h_adjoint, layer));
          // Through token j - 1 to the slot before it.
          const auto previous = [&](int c) { return k.state(streams[c].slot + j - 1); };
          const auto type = [&](int c) { return s.type_width > 0 ? f.token_type(streams[c].token + j - 1) : -1; };
          advance<D>(
              member, s, w, previous, [&](int c) { return k.hidden_parts(streams[c].slot + j - 1); },
              [&](int c) { return f.token_input.data() + streams[c].input + static_cast<Index>(j - 1) * s.inputs; },
              type, step);
          advance_adjoint<D>(member, s, w, previous, type, step, gradient);
        }
      });
}

/// By W_h and b: one product a realisation over all of its slots, instead of one a step. A client's sum joins the
/// partial sums of its first bundle, which have nothing there.
template <class D>
void adjoint_hidden(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  const int samples_at_most = b.most_samples;
  Kokkos::parallel_for(
      "fedpp::lstm::hidden_adjoint"_label, team_policy(exec, b.clients * samples_at_most * k.layers),
      FEDPP_KERNEL(const Member& member) {
        const int layer = member.league_rank() % k.layers, sample = member.league_rank() / k.layers % samples_at_most;
        const int client = member.league_rank() / k.layers / samples_at_most;
        const Encoder& e = b.encoder(client);
        const int task = k.client_tasks(client) + sample;
        if (e.kind != EncoderKind::kLstm || layer >= e.layers || sample >= b.samples(client) ||
            task >= k.client_tasks(client + 1) || f.step_taken(client) == 0)
          return;
        const Lstm s(e);
        double* gradient = k.gradient.data() + k.task_gradient(task);
        const Matrix by_hidden = s.hidden_matrix(gradient, layer);
        double* by_bias = s.matrix(gradient, layer).column(s.rows(layer) - 1);
        for (int i = b.client_realisations(client); i < b.client_realisations(client + 1); ++i) {
          const int last = b.stream_begin(i + 1) - 1;
          if (last < b.stream_begin(i) || !in_mini_batch(b, f, i)) continue;
          const int slots = b.stream_slot(last) + b.stream_tokens(last) + 1;
          const Index first = b.problem_slot(b.problem(i) + sample);
          const Matrix z = s.gates_of(Matrix(k.hidden_parts(first), s.gates(), slots, k.gates), layer);
          const Matrix h = s.h_of(Matrix(k.state(first), s.state(), slots, k.stride), layer);
          D::product(member, 1, z, transposed(h), 1, by_hidden);
          team_add_parts(
              member, 0, z.rows, 1 + slots, [=](int p) -> const double* { return p == 0 ? by_bias : z.column(p - 1); },
              by_bias);
        }
      });
}

}  // namespace

void adjoint(const Exec& exec, const Batch& batch, const Fields& fields, const Work& work) {
  with_dense([&]<class D>() {
    adjoint_points<D>(exec, batch, fields, work);
    adjoint_histories<D>(exec, batch, fields, work);
    adjoint_hidden<D>(exec, batch, fields, work);
  });
}

}  // namespace fedpp::gpu::lstm
