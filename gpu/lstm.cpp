// The LSTM encoder (spec 1.7; equations and layout of the weights: docs/encoders.md), forward and adjoint.
//
// History and points do the same step: from a state [h_1 c_1 h_2 c_2 ...] and an input to the next state. The gates'
// arguments W_x x + (W_h h + b) have a second part that belongs to the state alone: it is formed once a slot, for its
// token and for all the points that stand there. Histories run in bundles: streams of one client, longest first,
// advance together, one matrix product a layer and step for all that are not over. A point is one step from the state
// at its slot. Activations are not kept but formed again in the adjoint, where the points come first and then the
// histories, backwards in time; what the points and the token of a slot pass back goes through W_h once.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoders.hpp"
#include "gpu/history.hpp"
#include "gpu/pieces.hpp"

namespace fedpp::gpu {

namespace lstm_encoder {
namespace {

/// Columns that take a step together: their activations stay in a core's cache.
constexpr int kStepColumns = kHostBackend ? 64 : 32;

/// Sizes and offsets of one LSTM. A layer's matrix [4H x rows] has the columns of x_l first, then those of h_l, then b.
struct Lstm {
  int width, layers, inputs, type_width, types;

  KOKKOS_INLINE_FUNCTION explicit Lstm(const EncoderShape& s)
      : width(s.width), layers(s.layers), inputs(s.inputs), type_width(s.type_width), types(s.types) {}
  KOKKOS_INLINE_FUNCTION int below(int layer) const { return layer == 0 ? inputs + type_width : width; }
  KOKKOS_INLINE_FUNCTION int rows(int layer) const { return below(layer) + width + 1; }  ///< of x_l, h_l, 1
  KOKKOS_INLINE_FUNCTION int rows_before(int layer) const {
    return layer == 0 ? 0 : rows(0) + (layer - 1) * (2 * width + 1);
  }
  KOKKOS_INLINE_FUNCTION int weight(int layer) const { return type_width * types + 4 * width * rows_before(layer); }
  KOKKOS_INLINE_FUNCTION int hidden_weight(int layer) const { return weight(layer) + 4 * width * below(layer); }
  KOKKOS_INLINE_FUNCTION int weights() const { return weight(layers); }
  KOKKOS_INLINE_FUNCTION int state() const { return 2 * width * layers; }
  KOKKOS_INLINE_FUNCTION int gates() const { return 4 * width * layers; }
  /// By a slot's hidden parts and cells, what a step from it passes back: [z_1 (4H) c_1 (H) z_2 c_2 ...].
  KOKKOS_INLINE_FUNCTION int back() const { return 5 * width * layers; }
  KOKKOS_INLINE_FUNCTION int most_below() const { return below(0) > width ? below(0) : width; }
  /// Doubles of scratch for a column: see Step.
  KOKKOS_INLINE_FUNCTION Index forward_scratch() const { return below(0) + width + 1 + gates() + state(); }
  KOKKOS_INLINE_FUNCTION Index adjoint_scratch() const { return forward_scratch() + state() + back() + most_below(); }
};

/// A step's arrays, each [. x n].
struct Step {
  double *x, *h, *z, *next;                 ///< inputs; [h; 1] of a layer; gates of the layers; new state
  double *next_adjoint, *back, *x_adjoint;  ///< adjoint only; back: see Lstm::back()

  KOKKOS_INLINE_FUNCTION Step(Scratch& scratch, const Lstm& s, bool with_adjoint) {
    x = scratch.take(static_cast<Index>(s.below(0)) * kStepColumns);
    h = scratch.take(static_cast<Index>(s.width + 1) * kStepColumns);
    z = scratch.take(static_cast<Index>(s.gates()) * kStepColumns);
    next = scratch.take(static_cast<Index>(s.state()) * kStepColumns);
    next_adjoint = back = x_adjoint = nullptr;
    if (!with_adjoint) return;
    next_adjoint = scratch.take(static_cast<Index>(s.state()) * kStepColumns);
    back = scratch.take(static_cast<Index>(s.back()) * kStepColumns);
    x_adjoint = scratch.take(static_cast<Index>(s.most_below()) * kStepColumns);
  }
};

KOKKOS_INLINE_FUNCTION double sigmoid(double x) { return 1 / (1 + fast_exp(-x)); }

/// step.h = [h_l; 1] of n columns' states.
template <class State>
KOKKOS_INLINE_FUNCTION void gather_hidden(const Member& member, const Lstm& s, int layer, int n, const State& state,
                                          const Step& step) {
  const int width = s.width, base = 2 * width * layer;
  double* out = step.h;
  team_for_columns(member, width + 1, n, [=, &state](int c) {
    const double* h = state(c) + base;
    double* column = out + static_cast<Index>(c) * (width + 1);
    return [=](int r) { column[r] = r < width ? h[r] : 1; };
  });
  member.team_barrier();
}

/// hidden(c) [gates] = W_h h + b of all layers for n columns' states; step.z is overwritten.
template <class D, class State, class Hidden>
KOKKOS_INLINE_FUNCTION void hidden_parts(const Member& member, const Lstm& s, const double* w, int n,
                                         const State& state, const Hidden& hidden, const Step& step) {
  const int gates = 4 * s.width;
  double* z = step.z;
  for (int layer = 0; layer < s.layers; ++layer) {
    gather_hidden(member, s, layer, n, state, step);
    D::gemm(member, Op::kNone, Op::kNone, gates, n, s.width + 1, 1.0, w + s.hidden_weight(layer), gates, step.h,
            s.width + 1, 0.0, z, gates);
    team_for_columns(member, gates, n, [=, &hidden](int c) {
      double* out = hidden(c) + gates * layer;
      const double* column = z + static_cast<Index>(c) * gates;
      return [=](int u) { out[u] = column[u]; };
    });
    member.team_barrier();
  }
}

/// One step of n columns: column c goes from the state previous(c), whose hidden parts are hidden(c), with the input
/// input(c) and, at tokens, type(c) >= 0, to step.next. z holds the gates' activations afterwards.
template <class D, class Previous, class Hidden, class Input, class Type>
KOKKOS_INLINE_FUNCTION void advance(const Member& member, const Lstm& s, const double* w, int n, bool tokens,
                                    const Previous& previous, const Hidden& hidden, const Input& input,
                                    const Type& type, const Step& step) {
  const int width = s.width, state = s.state(), own = s.inputs + (tokens ? s.type_width : 0);
  double *next = step.next, *x = step.x;
  team_for_columns(member, own, n, [=, &input, &type](int c) {
    double* column = x + static_cast<Index>(c) * own;
    const double* from = input(c);
    const double* embedded = own > s.inputs ? w + s.type_width * type(c) : nullptr;
    return [=](int r) { column[r] = r < s.inputs ? from[r] : embedded[r - s.inputs]; };
  });
  for (int layer = 0; layer < s.layers; ++layer) {
    const int base = 2 * width * layer;
    double* z = step.z + static_cast<Index>(4 * width * layer) * n;
    team_for_columns(member, 4 * width, n, [=, &hidden](int c) {
      const double* part = hidden(c) + 4 * width * layer;
      double* column = z + static_cast<Index>(c) * 4 * width;
      return [=](int u) { column[u] = part[u]; };
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kNone, 4 * width, n, layer == 0 ? own : width, 1.0, w + s.weight(layer), 4 * width,
            layer == 0 ? x : next + base - 2 * width, layer == 0 ? own : state, 1.0, z, 4 * width);
    team_for_columns(member, width, n, [=, &previous](int c) {
      double* gates = z + static_cast<Index>(c) * 4 * width;
      const double* c_before = previous(c) + base + width;
      double* h = next + static_cast<Index>(c) * state + base;
      return [=](int u) {
        const double i = sigmoid(gates[u]), f = sigmoid(gates[width + u]);
        const double g = fast_tanh(gates[2 * width + u]), o = sigmoid(gates[3 * width + u]);
        const double cell = f * c_before[u] + i * g;
        gates[u] = i;
        gates[width + u] = f;
        gates[2 * width + u] = g;
        gates[3 * width + u] = o;
        h[width + u] = cell;
        h[u] = o * fast_tanh(cell);
      };
    });
    member.team_barrier();
  }
}

/// Adjoint of advance(), which ran on the same step: back(c) [back()] by hidden(c) and the cells of previous(c) from
/// step.next_adjoint (overwritten); adds to gradient[weights] what belongs to x_l.
template <class D, class Previous, class Type, class Back>
KOKKOS_INLINE_FUNCTION void advance_adjoint(const Member& member, const Lstm& s, const double* w, int n, bool tokens,
                                            const Previous& previous, const Type& type, const Step& step,
                                            double* gradient, const Back& back) {
  const int width = s.width, state = s.state(), own = s.inputs + (tokens ? s.type_width : 0);
  const double* next = step.next;
  double *next_adjoint = step.next_adjoint, *x_adjoint = step.x_adjoint;
  for (int layer = s.layers - 1; layer >= 0; --layer) {
    const int base = 2 * width * layer;
    double* z = step.z + static_cast<Index>(4 * width * layer) * n;
    team_for_columns(member, width, n, [=, &previous, &back](int c) {
      double* gates = z + static_cast<Index>(c) * 4 * width;
      const double* c_before = previous(c) + base + width;
      const double* c_next = next + static_cast<Index>(c) * state + base + width;
      const double* h_bar = next_adjoint + static_cast<Index>(c) * state + base;
      double* out = back(c) + 5 * width * layer;
      return [=](int u) {
        const double i = gates[u], f = gates[width + u], g = gates[2 * width + u], o = gates[3 * width + u];
        const double t = fast_tanh(c_next[u]);
        const double c_bar = h_bar[width + u] + h_bar[u] * o * (1 - t * t);
        out[4 * width + u] = c_bar * f;
        out[u] = gates[u] = c_bar * g * i * (1 - i);
        out[width + u] = gates[width + u] = c_bar * c_before[u] * f * (1 - f);
        out[2 * width + u] = gates[2 * width + u] = c_bar * i * (1 - g * g);
        out[3 * width + u] = gates[3 * width + u] = h_bar[u] * t * o * (1 - o);
      };
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kTranspose, 4 * width, layer == 0 ? own : width, n, 1.0, z, 4 * width,
            layer == 0 ? step.x : next + base - 2 * width, layer == 0 ? own : state, 1.0, gradient + s.weight(layer),
            4 * width);
    if (layer > 0) {
      D::gemm(member, Op::kTranspose, Op::kNone, width, n, 4 * width, 1.0, w + s.weight(layer), 4 * width, z, 4 * width,
              0.0, x_adjoint, width);
      team_for_2d(member, width, n, [=](int r, int c) {
        next_adjoint[c * state + base - 2 * width + r] += x_adjoint[r + static_cast<Index>(c) * width];
      });
      member.team_barrier();
    } else if (own > s.inputs) {
      D::gemm(member, Op::kTranspose, Op::kNone, s.type_width, n, 4 * width, 1.0,
              w + s.weight(0) + 4 * width * s.inputs, 4 * width, z, 4 * width, 0.0, x_adjoint, s.type_width);
      team_for(member, s.type_width, [=, &type](Index r) {  // tokens of a type share a column: one thread a row
        for (int c = 0; c < n; ++c) gradient[s.type_width * type(c) + r] += x_adjoint[c * s.type_width + r];
      });
      member.team_barrier();
    }
  }
}

/// The operator's arrays, copied into kernels by value.
struct Work {
  int stride = 0, gates = 0, back = 0;  ///< largest state(), gates() and back() of the batch
  Index forward_scratch = 0, adjoint_scratch = 0;
  int tasks = 0;                                   ///< bundles x samples
  Array<int> bundle_client, bundle_begin, stream;  ///< [bundles], [bundles + 1], streams of the bundles
  Array<int> client_tasks;                         ///< [clients + 1] first task
  Array<int> task_bundle, task_sample;             ///< [tasks]
  Array<Index> task_gradient;                      ///< [tasks] offset of partial sums [weights()]
  Array<int> active;                               ///< [tasks][kStepColumns] streams of the mini-batch
  Array<double> memory;                            ///< [problem_slot][stride] states
  Array<double> hidden;                            ///< [problem_slot][gates] their hidden parts
  Array<double> point_adjoint;                     ///< [problem_point][back] by those of the point's slot
  Array<double> gradient;                          ///< partial sums of the bundles
  SlotPoints points;
};

/// The streams of a bundle that the mini-batch has, longest first; returns how many, to every thread.
KOKKOS_INLINE_FUNCTION int active_streams(const Member& member, const Batch& b, const Fields& f, const Work& k,
                                          int task, bool batch_only, int* active) {
  const int bundle = k.task_bundle(task);
  int count = 0;  // every thread counts, one writes
  for (int j = k.bundle_begin(bundle); j < k.bundle_begin(bundle + 1); ++j) {
    const int stream = k.stream(j);
    if (batch_only && !in_mini_batch(b, f, b.stream_realisation(stream))) continue;
    if (member.team_rank() == 0) active[count] = stream;
    ++count;
  }
  member.team_barrier();
  return count;
}

template <class D>
void embed_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k, bool batch_only) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories"_label, team_policy(exec, k.tasks, k.forward_scratch),
      KOKKOS_LAMBDA(const Member& member) {
        const int task = member.league_rank(), sample = k.task_sample(task);
        const int client = k.bundle_client(k.task_bundle(task));
        const Encoder& e = b.encoder(client);
        const Lstm s(e);
        const double* w = f.weights.data() + b.weights(client) + static_cast<Index>(sample) * e.parameters();
        int* active = k.active.data() + static_cast<Index>(task) * kStepColumns;
        int n = active_streams(member, b, f, k, task, batch_only, active);
        Scratch scratch(member, k.forward_scratch);
        const Step step(scratch, s, false);
        const auto slot = [=](int stream, int j) {
          const int i = b.stream_realisation(stream);
          return b.problem_slot(b.problem(i) + sample) + b.stream_slot(stream) + j;
        };
        for (int j = 0;; ++j) {
          while (n > 0 && b.stream_tokens(active[n - 1]) < j) --n;  // streams that have a slot j
          if (n == 0) break;
          const auto state = [=](Index c) -> const double* { return k.memory.data() + slot(active[c], j) * k.stride; };
          const auto hidden = [=](Index c) { return k.hidden.data() + slot(active[c], j) * k.gates; };
          hidden_parts<D>(member, s, w, n, state, hidden, step);
          int going_on = n;
          while (going_on > 0 && b.stream_tokens(active[going_on - 1]) == j) --going_on;
          if (going_on == 0) break;
          advance<D>(
              member, s, w, going_on, true, state, hidden,
              [=](Index c) {
                return f.token_input.data() + b.stream_input(active[c]) + static_cast<Index>(j) * s.inputs;
              },
              [=](Index c) { return s.type_width > 0 ? f.token_type(b.stream_token(active[c]) + j) : -1; }, step);
          team_for_columns(member, s.state(), going_on, [=](int c) {
            double* next = k.memory.data() + slot(active[c], j + 1) * k.stride;
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
      KOKKOS_LAMBDA(const Member& member) {
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
              [=](Index c) { return memory + static_cast<Index>(slot[c]) * k.stride; },
              [=](Index c) { return hidden + static_cast<Index>(slot[c]) * k.gates; },
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

template <class D>
void adjoint_points(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::points_adjoint"_label, team_policy(exec, b.piece_tasks, k.adjoint_scratch),
      KOKKOS_LAMBDA(const Member& member) {
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
          const auto previous = [=](Index c) { return memory + static_cast<Index>(slot[c]) * k.stride; };
          const auto type = [](Index) { return -1; };
          advance<D>(
              member, s, piece.weights, n, false, previous,
              [=](Index c) { return hidden + static_cast<Index>(slot[c]) * k.gates; },
              [=](Index c) { return input + c * s.inputs; }, type, step);
          team_for_2d(member, state, n, [=](int r, int c) {
            const int top = r - (state - 2 * s.width);  // h of the last layer
            step.next_adjoint[r + static_cast<Index>(c) * state] =
                top >= 0 && top < s.width ? h_bar[top + static_cast<Index>(c) * s.width] : 0;
          });
          member.team_barrier();
          advance_adjoint<D>(member, s, piece.weights, n, false, previous, type, step, gradient,
                             [=](Index c) { return out + (first + c) * k.back; });
        }
      });
}

template <class D>
void adjoint_histories(const Exec& exec, const Batch& b, const Fields& f, const Work& k) {
  Kokkos::parallel_for(
      "fedpp::lstm::histories_adjoint"_label, team_policy(exec, k.tasks, k.adjoint_scratch),
      KOKKOS_LAMBDA(const Member& member) {
        const int task = member.league_rank(), sample = k.task_sample(task);
        const int client = k.bundle_client(k.task_bundle(task));
        const Encoder& e = b.encoder(client);
        if (f.step_taken(client) == 0) return;
        const Lstm s(e);
        const double* w = f.weights.data() + b.weights(client) + static_cast<Index>(sample) * e.parameters();
        double* gradient = k.gradient.data() + k.task_gradient(task);
        team_for(member, s.weights(), [=](Index j) { gradient[j] = 0; });
        int* active = k.active.data() + static_cast<Index>(task) * kStepColumns;
        const int streams = active_streams(member, b, f, k, task, true, active);
        if (streams == 0) return;
        Scratch scratch(member, k.adjoint_scratch);
        const Step step(scratch, s, true);
        const auto slot = [=](int stream, int j) {
          const int i = b.stream_realisation(stream);
          return b.problem_slot(b.problem(i) + sample) + b.stream_slot(stream) + j;
        };
        double *back = step.back, *next_adjoint = step.next_adjoint;
        const int width = s.width, stride = s.back();
        team_for(member, static_cast<Index>(streams) * stride, [=](Index j) { back[j] = 0; });
        member.team_barrier();
        int n = 0;
        for (int j = b.stream_tokens(active[0]);; --j) {
          while (n < streams && b.stream_tokens(active[n]) >= j) ++n;
          // By slot j: what its token passed back, and the points that stand there.
          team_for(member, n, [=](Index c) {
            double* sum = back + c * stride;
            const int stream = active[c], i = b.stream_realisation(stream);
            const Index at = b.slot(i) + b.stream_slot(stream) + j;
            const double* adjoints = k.point_adjoint.data() + b.problem_point(b.problem(i) + sample) * k.back;
            for (Index p = k.points.begin(at); p < k.points.begin(at + 1); ++p) {
              const double* part = adjoints + static_cast<Index>(k.points.point(p)) * k.back;
              FEDPP_INDEPENDENT
              for (int r = 0; r < stride; ++r) sum[r] += part[r];
            }
          });
          member.team_barrier();
          const auto state = [=](Index c) -> const double* { return k.memory.data() + slot(active[c], j) * k.stride; };
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
          const auto previous = [=](Index c) -> const double* {
            return k.memory.data() + slot(active[c], j - 1) * k.stride;
          };
          const auto type = [=](Index c) {
            return s.type_width > 0 ? f.token_type(b.stream_token(active[c]) + j - 1) : -1;
          };
          advance<D>(
              member, s, w, n, true, previous,
              [=](Index c) -> const double* { return k.hidden.data() + slot(active[c], j - 1) * k.gates; },
              [=](Index c) {
                return f.token_input.data() + b.stream_input(active[c]) + static_cast<Index>(j - 1) * s.inputs;
              },
              type, step);
          advance_adjoint<D>(member, s, w, n, true, previous, type, step, gradient,
                             [=](Index c) { return back + c * stride; });
        }
      });
}

/// Bundles of each client's streams, longest first: the same whatever else is in the batch.
void lay_out_bundles(const Batch& batch, const std::vector<Encoder>& encoders, bool with_gradient, Work& k) {
  std::vector<int> client, realisation, tokens, samples;
  to_host(batch.client, client);
  to_host(batch.stream_realisation, realisation);
  to_host(batch.stream_tokens, tokens);
  to_host(batch.samples, samples);
  std::vector<std::vector<int>> streams(batch.clients);
  for (int s = 0; s < batch.streams; ++s)
    if (encoders[client[realisation[s]]].kind == EncoderKind::kLstm) streams[client[realisation[s]]].push_back(s);

  std::vector<int> bundle_client, bundle_begin{0}, order, client_tasks{0}, task_bundle, task_sample;
  std::vector<Index> task_gradient;
  Index gradient = 0;
  for (int c = 0; c < batch.clients; ++c) {
    auto& own = streams[c];
    std::stable_sort(own.begin(), own.end(), [&](int a, int b) { return tokens[a] > tokens[b]; });
    for (std::size_t first = 0; first < own.size(); first += kStepColumns) {
      const std::size_t last = std::min(first + kStepColumns, own.size());
      order.insert(order.end(), own.begin() + first, own.begin() + last);
      for (int sample = 0; sample < samples[c]; ++sample) {
        task_bundle.push_back(static_cast<int>(bundle_client.size()));
        task_sample.push_back(sample);
        task_gradient.push_back(gradient);
        gradient += encoders[c].weights();
      }
      bundle_client.push_back(c);
      bundle_begin.push_back(static_cast<int>(order.size()));
    }
    client_tasks.push_back(static_cast<int>(task_bundle.size()));
  }
  k.tasks = static_cast<int>(task_bundle.size());
  k.bundle_client = to_device<int>("bundle_client", bundle_client);
  k.bundle_begin = to_device<int>("bundle_begin", bundle_begin);
  k.stream = to_device<int>("bundle_stream", order);
  k.client_tasks = to_device<int>("bundle_client_tasks", client_tasks);
  k.task_bundle = to_device<int>("bundle_task", task_bundle);
  k.task_sample = to_device<int>("bundle_sample", task_sample);
  k.task_gradient = to_device<Index>("bundle_gradient_offset", task_gradient);
  k.active = Array<int>("active_streams", static_cast<std::size_t>(k.tasks) * kStepColumns);
  if (with_gradient) k.gradient = Array<double>("bundle_gradient", static_cast<std::size_t>(gradient));
}

class LstmOperator : public EncoderOperator {
 public:
  LstmOperator(const Batch& batch, const Fields& fields, bool with_gradient) {
    std::vector<Encoder> encoders;
    to_host(batch.encoder, encoders);
    for (const Encoder& e : encoders) {
      if (e.kind != EncoderKind::kLstm) continue;
      const Lstm s(e);
      k_.stride = std::max(k_.stride, s.state());
      k_.gates = std::max(k_.gates, s.gates());
      k_.back = std::max(k_.back, s.back());
      k_.forward_scratch = std::max(k_.forward_scratch, s.forward_scratch() * kStepColumns);
      k_.adjoint_scratch = std::max(k_.adjoint_scratch, s.adjoint_scratch() * kStepColumns);
    }
    lay_out_bundles(batch, encoders, with_gradient, k_);
    k_.memory = Array<double>("lstm_memory", static_cast<std::size_t>(batch.lengths.problem_slot *
                                                                      k_.stride));  // zero: the state at the start
    k_.hidden = Array<double>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "lstm_hidden"),
                              static_cast<std::size_t>(batch.lengths.problem_slot * k_.gates));
    if (!with_gradient) return;
    k_.point_adjoint =
        Array<double>("lstm_point_adjoint", static_cast<std::size_t>(batch.lengths.problem_point * k_.back));
    k_.points = make_slot_points(batch, fields);
  }

  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    with_dense([&]<class D>() {
      embed_histories<D>(exec, batch, fields, k_, batch_only);
      embed_points<D>(exec, batch, fields, k_, batch_only);
    });
  }

  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    with_dense([&]<class D>() {
      adjoint_points<D>(exec, batch, fields, k_);
      adjoint_histories<D>(exec, batch, fields, k_);
    });
    sum_gradients(exec, batch, fields, EncoderKind::kLstm, k_.client_tasks, k_.task_gradient, k_.gradient);
  }

 private:
  Work k_;
};

class LstmFamily : public EncoderFamily {
 public:
  const char* name() const override { return "lstm"; }
  bool reads_history() const override { return true; }
  int dimension(const EncoderShape& shape) const override { return shape.width; }
  int weights(const EncoderShape& shape) const override { return Lstm(shape).weights(); }

  /// Matrices by the number of their inputs; the forget gate open, so that gradients reach far back at first.
  Start start(const EncoderShape& shape) const override {
    const Lstm s(shape);
    Start start{std::vector<double>(s.weights(), 0.0), std::vector<double>(s.weights(), 1.0)};
    for (int layer = 0; layer < s.layers; ++layer) {
      const int rows = s.rows(layer), gates = 4 * s.width;
      std::fill_n(start.sd.begin() + s.weight(layer), gates * rows, 1 / std::sqrt(static_cast<double>(rows)));
      std::fill_n(start.mean.begin() + s.weight(layer) + (rows - 1) * gates + s.width, s.width, 1.0);
    }
    return start;
  }

  std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields& fields,
                                                 bool with_gradient) const override {
    return std::make_unique<LstmOperator>(batch, fields, with_gradient);
  }

  Index workspace(const Encoder& encoder, Index tokens, Index streams, Index points, Index,
                  bool with_gradient) const override {
    const Lstm s(encoder);
    const Index memory = (tokens + streams) * (s.state() + s.gates());
    return with_gradient ? memory + points * s.back() + streams * s.weights() : memory;
  }

  /// W_h once a slot, W_x once a token and a point (whose types are no input); in the adjoint twice that.
  Operations operations(const Encoder& encoder, const std::vector<int>& streams, Index points) const override {
    const Lstm s(encoder);
    const double tokens = std::accumulate(streams.begin(), streams.end(), 0.0), gates = 4 * s.width;
    const double slots = tokens + static_cast<double>(streams.size()), upper = (s.layers - 1.0) * s.width;
    const double products = gates * (slots * s.layers * (s.width + 1.0) + tokens * (s.below(0) + upper) +
                                     static_cast<double>(points) * (s.inputs + upper));
    return {2 * products, 4 * products};
  }
};

}  // namespace
}  // namespace lstm_encoder

const EncoderFamily& lstm_family() {
  static const lstm_encoder::LstmFamily family;
  return family;
}

}  // namespace fedpp::gpu
