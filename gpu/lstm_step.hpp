// One step of LSTMs, forward and adjoint (docs/encoders.md), for some columns of a team at once.
//
// History and points do the same step: from a state [h_1 c_1 h_2 c_2 ...] and an input to the next state. The gates'
// arguments W_x x + (W_h h + b) have a second part that belongs to the state alone: it is formed once a slot, for its
// token and for all the points that stand there.
#pragma once

#include "gpu/dense.hpp"
#include "gpu/elementary.hpp"
#include "gpu/encoder.hpp"

namespace fedpp::gpu::lstm {

/// Streams and points that take a step together, at most: on a host their activations stay in a core's cache, on a
/// device those of points are in shared memory (two layers of 32 units; those of streams where they are as few).
inline constexpr int kBundleStreams = kHostBackend ? 64 : 32, kPointColumns = kHostBackend ? 64 : 16;

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
  KOKKOS_INLINE_FUNCTION int cells() const { return width * layers; }
  KOKKOS_INLINE_FUNCTION int state() const { return 2 * cells(); }
  KOKKOS_INLINE_FUNCTION int gates() const { return 4 * cells(); }
  /// By a slot's hidden parts and cells, what a step from it passes back: [z_1 z_2 ... c_1 c_2 ...].
  KOKKOS_INLINE_FUNCTION int back() const { return gates() + cells(); }
  /// Doubles of scratch for a column: see Step.
  KOKKOS_INLINE_FUNCTION Index forward_scratch() const { return below(0) + gates() + state(); }
  KOKKOS_INLINE_FUNCTION Index adjoint_scratch() const { return below(0) + back() + state() + cells(); }
};

/// A step's arrays, each [. x n].
struct Step {
  double* x;          ///< inputs, without gaps
  double* z;          ///< gates of the layers; in the adjoint, for which they make room, what Lstm::back() says
  double* next;       ///< new state
  double* h_adjoint;  ///< adjoint only: by the layers' new h
  int stride;         ///< of z

  KOKKOS_INLINE_FUNCTION Step(Scratch& scratch, const Lstm& s, Index columns, bool with_adjoint)
      : x(scratch.take(s.below(0) * columns)), stride(with_adjoint ? s.back() : s.gates()) {
    z = scratch.take(stride * columns);
    next = scratch.take(s.state() * columns);
    h_adjoint = with_adjoint ? scratch.take(s.cells() * columns) : nullptr;
  }
};

KOKKOS_INLINE_FUNCTION double sigmoid(double x) { return 1 / (1 + fast_exp(-x)); }

/// hidden(c) [gates] = W_h h + b of all layers for n columns' states, step.next; step.z is overwritten.
template <class D, class Hidden>
KOKKOS_INLINE_FUNCTION void hidden_parts(const Member& member, const Lstm& s, const double* w, int n,
                                         const Hidden& hidden, const Step& step) {
  const int width = s.width, gates = 4 * width, stride = step.stride;
  for (int layer = 0; layer < s.layers; ++layer)
    D::gemm(member, Op::kNone, Op::kNone, gates, n, width, 1.0, w + s.hidden_weight(layer), gates,
            step.next + 2 * width * layer, s.state(), 0.0, step.z + gates * layer, stride);
  for (int layer = 0; layer < s.layers; ++layer) {
    const double *z = step.z + gates * layer, *bias = w + s.hidden_weight(layer) + gates * width;
    team_for_columns(member, gates, n, [=, &hidden](int c) {
      double* out = hidden(c) + gates * layer;
      const double* column = z + static_cast<Index>(c) * stride;
      return [=](int u) { out[u] = column[u] + bias[u]; };
    });
  }
  member.team_barrier();
}

/// One step of n columns: column c goes from the state previous(c), which may be its place in step.next, with the
/// hidden parts hidden(c), the input input(c) and, at tokens, type(c) >= 0, to step.next. z holds the gates'
/// activations afterwards.
template <class D, class Previous, class Hidden, class Input, class Type>
KOKKOS_INLINE_FUNCTION void advance(const Member& member, const Lstm& s, const double* w, int n, bool tokens,
                                    const Previous& previous, const Hidden& hidden, const Input& input,
                                    const Type& type, const Step& step) {
  const int width = s.width, state = s.state(), own = s.inputs + (tokens ? s.type_width : 0), stride = step.stride;
  double *next = step.next, *x = step.x;
  team_for_columns(member, own, n, [=, &input, &type](int c) {
    double* column = x + static_cast<Index>(c) * own;
    const double* from = input(c);
    const double* embedded = own > s.inputs ? w + s.type_width * type(c) : nullptr;
    return [=](int r) { column[r] = r < s.inputs ? from[r] : embedded[r - s.inputs]; };
  });
  member.team_barrier();
  for (int layer = 0; layer < s.layers; ++layer) {
    const int base = 2 * width * layer;
    double* z = step.z + 4 * width * layer;
    D::gemm(member, Op::kNone, Op::kNone, 4 * width, n, layer == 0 ? own : width, 1.0, w + s.weight(layer), 4 * width,
            layer == 0 ? x : next + base - 2 * width, layer == 0 ? own : state, 0.0, z, stride);
    team_for_columns(member, width, n, [=, &previous, &hidden](int c) {
      double* gates = z + static_cast<Index>(c) * stride;
      const double* part = hidden(c) + 4 * width * layer;
      const double* c_before = previous(c) + base + width;
      double* h = next + static_cast<Index>(c) * state + base;
      return [=](int u) {
        const double i = sigmoid(gates[u] + part[u]), f = sigmoid(gates[width + u] + part[width + u]);
        const double g = fast_tanh(gates[2 * width + u] + part[2 * width + u]);
        const double o = sigmoid(gates[3 * width + u] + part[3 * width + u]);
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

/// Adjoint of advance(), which ran on the same step from states previous(c): step.z, where the adjoint by the new cells
/// stands behind the gates, becomes what Lstm::back() says; step.h_adjoint and step.x are overwritten; adds to
/// gradient[weights] what belongs to x_l.
template <class D, class Previous, class Type>
KOKKOS_INLINE_FUNCTION void advance_adjoint(const Member& member, const Lstm& s, const double* w, int n, bool tokens,
                                            const Previous& previous, const Type& type, const Step& step,
                                            double* gradient) {
  const int width = s.width, state = s.state(), own = s.inputs + (tokens ? s.type_width : 0), stride = step.stride;
  const double* next = step.next;
  double* h_adjoint = step.h_adjoint;
  for (int layer = s.layers - 1; layer >= 0; --layer) {
    const int base = 2 * width * layer;
    double *z = step.z + 4 * width * layer, *cells = step.z + s.gates() + width * layer;
    team_for_columns(member, width, n, [=, &previous](int c) {
      double *gates = z + static_cast<Index>(c) * stride, *cell_bar = cells + static_cast<Index>(c) * stride;
      const double* c_before = previous(c) + base + width;
      const double* c_next = next + static_cast<Index>(c) * state + base + width;
      const double* h_bar = h_adjoint + static_cast<Index>(c) * s.cells() + width * layer;
      return [=](int u) {
        const double i = gates[u], f = gates[width + u], g = gates[2 * width + u], o = gates[3 * width + u];
        const double t = fast_tanh(c_next[u]);
        const double c_bar = cell_bar[u] + h_bar[u] * o * (1 - t * t);
        cell_bar[u] = c_bar * f;
        gates[u] = c_bar * g * i * (1 - i);
        gates[width + u] = c_bar * c_before[u] * f * (1 - f);
        gates[2 * width + u] = c_bar * i * (1 - g * g);
        gates[3 * width + u] = h_bar[u] * t * o * (1 - o);
      };
    });
    member.team_barrier();
    D::gemm(member, Op::kNone, Op::kTranspose, 4 * width, layer == 0 ? own : width, n, 1.0, z, stride,
            layer == 0 ? step.x : next + base - 2 * width, layer == 0 ? own : state, 1.0, gradient + s.weight(layer),
            4 * width);
    if (layer > 0) {
      D::gemm(member, Op::kTranspose, Op::kNone, width, n, 4 * width, 1.0, w + s.weight(layer), 4 * width, z, stride,
              1.0, h_adjoint + width * (layer - 1), s.cells());
    } else if (own > s.inputs) {
      D::gemm(member, Op::kTranspose, Op::kNone, s.type_width, n, 4 * width, 1.0,
              w + s.weight(0) + 4 * width * s.inputs, 4 * width, z, stride, 0.0, step.x, s.type_width);
      team_add_by_group(member, s.type_width, n, step.x, type, gradient);
      member.team_barrier();
    }
  }
}

}  // namespace fedpp::gpu::lstm
