// The decay encoder (equations and layout of the weights: docs/encoders.md): the deep kernel on sums of decaying
// exponentials over the history, forward and adjoint.
//
// A sum at a point follows from its value just after the last token before, and so does its derivative by its own rate,
// the only weight that it depends on. Both are carried along the streams together, so the adjoint meets points alone.
#include <algorithm>
#include <cmath>

#include "gpu/arrays.hpp"
#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/encoders.hpp"
#include "gpu/lanes.hpp"
#include "gpu/pieces.hpp"
#include "gpu/scratch.hpp"

namespace fedpp::gpu {

namespace decay_encoder {
namespace {

constexpr int kSums = 6;            ///< K
constexpr double kShortest = 0.25;  ///< lifetime of a sum at the start, in units of x_1; the next has kRatio times it
constexpr double kRatio = 4;
constexpr double kStartSd = 0.1;             ///< of the logarithms of the rates
constexpr int kLaneSums = 8;                 ///< as many are computed at a time; what comes of the last is not kept
constexpr int kSlotDoubles = 2 * kLaneSums;  ///< after a token: the sums, their slopes, its time
constexpr int kSum = 0, kSlope = kLaneSums, kTime = kSlotDoubles - 1;  ///< where they are
constexpr double kForgotten = 700;                                     ///< lifetimes, within the range of fast_exp

KOKKOS_INLINE_FUNCTION int rows(const EncoderShape& s) { return s.inputs + kSums; }  ///< of [x_2 .. x_I ; log(1+s) ; 1]
int weights_of(const EncoderShape& s) { return kSums + s.width * rows(s); }

/// A sum and its slope, the derivative by the logarithm of its rate, after some time.
KOKKOS_INLINE_FUNCTION void decay(double elapsed, double rate, double& sum, double& slope) {
  const double all = (elapsed > 0 ? elapsed : 0) * rate;  // choices, since fmin would be a call
  const double lifetimes = all < kForgotten ? all : kForgotten;
  const double left = fast_exp_down(-lifetimes);
  slope = left * (slope - lifetimes * sum);
  sum *= left;
}

/// Copied into kernels by value.
struct Work {
  int tasks = 0;
  Array<int> stream, sample;  ///< [tasks] every stream of the encoder's clients with every sample
  Array<double> memory;       ///< [problem_slot][kSlotDoubles]; zeros before a stream's first token
};

void remember(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::decay::histories"_label, Kokkos::RangePolicy<Exec>(exec, 0, k.tasks * kSums),
      FEDPP_KERNEL(const int task) {
        const int stream = k.stream(task / kSums), sample = k.sample(task / kSums), s = task % kSums;
        const int i = b.stream_realisation(stream), client = b.client(i), tokens = b.stream_tokens(stream);
        if (batch_only && !in_mini_batch(b, f, i)) return;
        const double rate = fast_exp(weights_of(b, f, client, sample)[s]);
        const Matrix input(f.token_input.data() + b.stream_input(stream), b.encoder(client).inputs, tokens);
        const Index first = b.problem_slot(b.problem(i) + sample) + b.stream_slot(stream);
        const Matrix memory(k.memory.data() + first * kSlotDoubles, kSlotDoubles, tokens + 1);
        double sum = 0, slope = 0, last = 0;
        for (int j = 0; j < tokens; ++j) {
          const double time = input(0, j);
          decay(time - last, rate, sum, slope);
          sum += 1;
          last = time;
          double* slot = memory.column(j + 1);
          if (s == 0) slot[kTime] = time;
          slot[kSum + s] = sum;
          slot[kSlope + s] = slope;
        }
      });
}

/// What the points of a piece see.
struct Seen {
  const double *log_rate, *memory;
  const int* slot;
  Matrix<const double> input;

  KOKKOS_INLINE_FUNCTION Seen(const Batch& b, const Work& k, const Piece& piece)
      : log_rate(piece.weights),
        memory(k.memory.data() + b.problem_slot(piece.problem) * kSlotDoubles),
        slot(piece.slot),
        input(piece.input, b.encoder(piece.client).inputs, piece.n) {}
};

/// y = [x_2 .. x_I ; log(1+s) ; 1] of the points, and what log(1+s) changes by with the logarithm of its rate, a column
/// for each point, where `slopes` has any. `rate`: kLaneSums.
KOKKOS_INLINE_FUNCTION void features(const Member& member, const Seen& seen, double* rate, Matrix<double> y,
                                     Matrix<double> slopes) {
  team_for(member, kLaneSums, [=](Index s) { rate[s] = s < kSums ? fast_exp(seen.log_rate[s]) : 0.0; });
  member.team_barrier();
  const int own = seen.input.rows - 1;
  team_for_lanes(member, y.columns, [=](const Lanes& lanes, int c) {
    const double* before = seen.memory + static_cast<Index>(seen.slot[c]) * kSlotDoubles;
    const double elapsed = seen.input(0, c) - before[kTime];
    double* column = y.column(c);
    lanes.for_each(kLaneSums, [=](int s) {
      double sum = before[kSum + s], slope = before[kSlope + s];
      decay(elapsed, rate[s], sum, slope);
      if (s < kSums) column[own + s] = fast_log(1 + sum);
      if (s < kSums && slopes.columns > 0) slopes(s, c) = slope / (1 + sum);
    });
    lanes.for_each(own, [=](int r) { column[r] = seen.input(1 + r, c); });
    if (lanes.first()) column[own + kSums] = 1;
  });
  member.team_barrier();
}

Index forward_scratch(const Batch& b) { return kLaneSums + static_cast<Index>(b.most_inputs + kSums) * b.most_piece; }
Index adjoint_scratch(const Batch& b) { return forward_scratch(b) + 2 * static_cast<Index>(kSums) * b.most_piece; }

template <class D>
void embed_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  const Index size = forward_scratch(b);
  Kokkos::parallel_for(
      "fedpp::decay::points"_label, team_policy(exec, b.piece_tasks, size), FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kDecay || (batch_only && !piece.selected(b, f))) return;
        Scratch scratch(member, size);
        double* rate = scratch.take(kLaneSums);
        const Matrix y = scratch.take(rows(e), piece.n), h(piece.embedding, e.width, piece.n);
        features(member, Seen(b, k, piece), rate, y, {nullptr, kSums, 0});
        D::product(member, 1, Matrix(piece.weights + kSums, e.width, rows(e)), y, 0, h);
        team_for(member, h.size(), [=](Index j) { h[j] = fast_tanh(h[j]); });
      });
}

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  const Index size = adjoint_scratch(b);
  Kokkos::parallel_for(
      "fedpp::decay::points_adjoint"_label, team_policy(exec, b.piece_tasks, size), FEDPP_KERNEL(const Member& member) {
        const Piece piece(b, f, member.league_rank());
        const Encoder& e = b.encoder(piece.client);
        if (e.kind != EncoderKind::kDecay || f.step_taken(piece.client) == 0 || !piece.selected(b, f)) return;
        Scratch scratch(member, size);
        double* rate = scratch.take(kLaneSums);
        const Matrix y = scratch.take(rows(e), piece.n), slopes = scratch.take(kSums, piece.n),
                     sums_adjoint = scratch.take(kSums, piece.n);
        features(member, Seen(b, k, piece), rate, y, slopes);
        const Matrix h(piece.embedding, e.width, piece.n), z_adjoint(piece.adjoint, e.width, piece.n);
        team_for(member, h.size(), [=](Index j) { z_adjoint[j] *= 1 - h[j] * h[j]; });
        member.team_barrier();
        double* gradient = f.piece_gradient.data() + piece.gradient;
        D::product(member, 1, z_adjoint, transposed(y), 0, Matrix(gradient + kSums, e.width, rows(e)));
        const Matrix weights(piece.weights + kSums, e.width, rows(e));
        D::product(member, 1, transposed(weights.columns_from(e.inputs - 1, kSums)), z_adjoint, 0, sums_adjoint);
        team_column_sums(
            member, piece.n, kSums, [=](int s, const double* sums) { gradient[s] = sums[0]; },
            [=](int n, int s) { return sums_adjoint(s, n) * slopes(s, n); });
      });
}

class DecayOperator : public EncoderOperator {
 public:
  explicit DecayOperator(const Batch& batch) {
    std::vector<Encoder> encoders;
    std::vector<int> client, realisation, samples, task_stream, task_sample;
    to_host(batch.encoder, encoders);
    to_host(batch.client, client);
    to_host(batch.stream_realisation, realisation);
    to_host(batch.samples, samples);
    for (int stream = 0; stream < batch.streams; ++stream) {
      const int c = client[realisation[stream]];
      for (int sample = 0; encoders[c].kind == EncoderKind::kDecay && sample < samples[c]; ++sample) {
        task_stream.push_back(stream);
        task_sample.push_back(sample);
      }
    }
    k_.tasks = static_cast<int>(task_stream.size());
    ArraySet<int> ints;
    ints.upload("decay_stream", k_.stream, task_stream);
    ints.upload("decay_sample", k_.sample, task_sample);
    ints.make("decay_tasks");
    ArraySet<double> doubles;
    doubles.zeros("decay_memory", k_.memory, batch.lengths.problem_slot * kSlotDoubles);
    doubles.make("decay");
  }

  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    remember(exec, batch, fields, k_, batch_only);
    with_dense([&]<class D>() { embed_points<D>(exec, batch, fields, k_, batch_only); });
  }

  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    with_dense([&]<class D>() { adjoint_points<D>(exec, batch, fields, k_); });
    sum_gradients(exec, batch, fields, EncoderKind::kDecay, {}, {}, {});
  }

 private:
  Work k_;
};

class DecayFamily : public EncoderFamily {
 public:
  const char* name() const override { return "decay"; }
  bool reads_history() const override { return true; }
  int dimension(const EncoderShape& shape) const override { return shape.width; }
  int weights(const EncoderShape& shape) const override { return weights_of(shape); }

  Start start(const EncoderShape& shape) const override {
    Start start{std::vector<double>(weights_of(shape), 0.0),
                std::vector<double>(weights_of(shape), 1 / std::sqrt(static_cast<double>(rows(shape))))};
    for (int s = 0; s < kSums; ++s) {
      start.mean[s] = -std::log(kShortest) - s * std::log(kRatio);
      start.sd[s] = kStartSd;
    }
    return start;
  }

  std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields&, bool) const override {
    return std::make_unique<DecayOperator>(batch);
  }

  Index workspace(const Encoder&, Index tokens, Index streams, Index, Index, bool) const override {
    return (tokens + streams) * kSlotDoubles + streams;
  }

  void add_scratch(const Encoder&, const Batch& b, bool with_gradient, ScratchWanted& wanted) const override {
    wanted.launch(b.piece_tasks, with_gradient ? adjoint_scratch(b) : forward_scratch(b));
  }
};

}  // namespace
}  // namespace decay_encoder

const EncoderFamily& decay_family() {
  static const decay_encoder::DecayFamily family;
  return family;
}

}  // namespace fedpp::gpu
