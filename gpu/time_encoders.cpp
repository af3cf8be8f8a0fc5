// Encoders of time alone (theory 1.7): rbf, h = x, and the deep kernel, h = tanh(W [x; 1]). Equations:
// docs/encoders.md.
#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/encoders.hpp"
#include "gpu/pieces.hpp"
#include "gpu/scratch.hpp"

namespace fedpp::gpu {

namespace {

/// [x; 1] of a piece.
KOKKOS_INLINE_FUNCTION Matrix<double> with_bias(const Member& member, Matrix<const double> x, Scratch scratch) {
  const Matrix out = scratch.take(x.rows + 1, x.columns);
  team_for_2d(member, out.rows, out.columns, [=](int r, int c) { out(r, c) = r < x.rows ? x(r, c) : 1; });
  member.team_barrier();
  return out;
}

// Per team: [x; 1] of a piece.
KOKKOS_INLINE_FUNCTION Index input_scratch(const Batch& b) {
  return static_cast<Index>(b.most_inputs + 1) * b.most_piece;
}

template <class D>
void run_embed(const Exec& exec, const Batch& b, const Fields& f, EncoderKind kind, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::time_encoders::embed"_label, team_policy(exec, b.piece_tasks, input_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, b.first.piece_task + member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != kind || (batch_only && !piece.selected(b, f))) return;
        const Matrix input(piece.input, e.inputs, piece.n);
        const Matrix h(piece.embedding, e.dimension, piece.n);
        if (kind == EncoderKind::kRbf) {
          team_for(member, h.size(), [=](Index i) { h[i] = input[i]; });
          return;
        }
        const Matrix w(piece.weights, e.width, e.inputs + 1);
        if (e.inputs == 1) {  // the rule: a product of depth 2 would cost more than what it computes
          const double *slope = w.column(0), *bias = w.column(1);
          team_for_2d(member, h.rows, h.columns,
                      [=](int r, int c) { h(r, c) = fast_tanh(slope[r] * input[c] + bias[r]); });
          return;
        }
        const Matrix x = with_bias(member, input, Scratch(member, input_scratch(b)));
        D::product(member, 1, w, x, 0, h);
        team_for(member, h.size(), [=](Index i) { h[i] = fast_tanh(h[i]); });
      });
}

template <class D>
void run_adjoint(const Exec& exec, const Batch& b, const Fields& f) {
  Kokkos::parallel_for(
      "fedpp::time_encoders::adjoint"_label, team_policy(exec, b.piece_tasks, input_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, b.first.piece_task + member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kDeepKernel || f.step_taken(piece.client) == 0 || !piece.selected(b, f)) return;
        const Matrix input(piece.input, e.inputs, piece.n);
        const Matrix h(piece.embedding, e.width, piece.n), hbar(piece.adjoint, e.width, piece.n);
        const Matrix gradient(f.piece_gradient.data() + piece.gradient, e.width, e.inputs + 1);
        if (e.inputs == 1) {
          team_multiply(
              member, h.rows, h.columns, [=](int r, int c) { return hbar(r, c) * (1 - h(r, c) * h(r, c)); },
              gradient.data, [=](int c) { return input[c]; }, [](int) { return 1.0; });
          return;
        }
        const Matrix x = with_bias(member, input, Scratch(member, input_scratch(b)));
        team_for(member, h.size(), [=](Index i) { hbar[i] *= 1 - h[i] * h[i]; });
        member.team_barrier();
        D::product(member, 1, hbar, transposed(x), 0, gradient);
      });
}

class TimeOperator : public EncoderOperator {
 public:
  explicit TimeOperator(EncoderKind kind) : kind_(kind) {}
  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    with_dense([&]<class D>() { run_embed<D>(exec, batch, fields, kind_, batch_only); });
  }
  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    if (kind_ == EncoderKind::kRbf) return;
    with_dense([&]<class D>() { run_adjoint<D>(exec, batch, fields); });
  }
  void collect(const Exec& exec, const Batch& batch, const Fields& fields) override {
    if (kind_ != EncoderKind::kRbf) sum_gradients(exec, batch, fields, kind_, {}, {}, {});
  }

 private:
  EncoderKind kind_;
};

class RbfFamily : public EncoderFamily {
 public:
  const char* name() const override { return "rbf"; }
  bool reads_history() const override { return false; }
  bool by_chunks() const override { return true; }
  int dimension(const EncoderShape&) const override { return 1; }
  int weights(const EncoderShape&) const override { return 0; }
  Start start(const EncoderShape&) const override { return {}; }
  std::unique_ptr<EncoderOperator> make_operator(const Batch&, const Fields&, bool) const override {
    return std::make_unique<TimeOperator>(EncoderKind::kRbf);
  }
  Index workspace(const Encoder&, Index, Index, Index, Index, bool) const override { return 0; }
  void add_scratch(const Encoder&, const Batch&, bool, ScratchWanted&) const override {}
};

class DeepKernelFamily : public EncoderFamily {
 public:
  const char* name() const override { return "deep-kernel"; }
  bool reads_history() const override { return false; }
  bool by_chunks() const override { return true; }
  int dimension(const EncoderShape& s) const override { return s.width; }
  int weights(const EncoderShape& s) const override { return s.width * (s.inputs + 1); }
  Start start(const EncoderShape& s) const override {
    return {std::vector<double>(weights(s), 0.0), std::vector<double>(weights(s), 1.0)};
  }
  std::unique_ptr<EncoderOperator> make_operator(const Batch&, const Fields&, bool) const override {
    return std::make_unique<TimeOperator>(EncoderKind::kDeepKernel);
  }
  Index workspace(const Encoder&, Index, Index, Index, Index, bool) const override { return 0; }
  void add_scratch(const Encoder&, const Batch& b, bool, ScratchWanted& wanted) const override {
    wanted.launch(b.piece_tasks, input_scratch(b));
  }
  Operations operations(const Encoder& e, const std::vector<int>&, Index points) const override {
    return {2.0 * e.weights * points, 2.0 * e.weights * points};  // W [x; 1]; hbar [x; 1]'
  }
};

}  // namespace

const EncoderFamily& rbf_family() {
  static const RbfFamily family;
  return family;
}

const EncoderFamily& deep_kernel_family() {
  static const DeepKernelFamily family;
  return family;
}

}  // namespace fedpp::gpu
