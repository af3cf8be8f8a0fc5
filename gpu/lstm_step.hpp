// One step of LSTMs, forward and adjoint (docs/encoders.md), for up to kStepColumns columns of a team at once.
//
// History and points do the same step: from a state [h_1 c_1 h_2 c_2 ...] and an input to the next state. The gates'
// arguments W_x x + (W_h h + b) have a second part that belongs to the state alone: it is formed once a slot, for its
// token and for all the points that stand there.
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder.hpp"

namespace fedpp::gpu::lstm {

/// Columns that take a step together: their activations stay in a core's cache.
inline constexpr int kStepColumns = kHostBackend ? 64 : 32;

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

}  // namespace fedpp::gpu::lstm
