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
  KOKKOS_INLINE_FUNCTION int weights() const { return weight(layers); }
  KOKKOS_INLINE_FUNCTION int cells() const { return width * layers; }
  KOKKOS_INLINE_FUNCTION int state() const { return 2 * cells(); }
  KOKKOS_INLINE_FUNCTION int gates() const { return 4 * cells(); }
  /// By a slot's hidden parts and cells, what a step from it passes back: [z_1 z_2 ... c_1 c_2 ...].
  KOKKOS_INLINE_FUNCTION int back() const { return gates() + cells(); }
  /// Doubles of scratch for a column: see Step.
  KOKKOS_INLINE_FUNCTION Index forward_scratch() const { return below(0) + gates() + state(); }
  KOKKOS_INLINE_FUNCTION Index adjoint_scratch() const { return below(0) + back() + state() + cells(); }

  /// A layer's matrix in the weights w, or in a gradient by them, and its W_h.
  template <class T>
  KOKKOS_INLINE_FUNCTION Matrix<T> matrix(T* w, int layer) const {
    return Matrix(w + weight(layer), 4 * width, rows(layer));
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION Matrix<T> hidden_matrix(T* w, int layer) const {
    return matrix(w, layer).columns_from(below(layer), width);
  }
  /// A layer's rows: its h of states, its gates of all gates, its units of what has one row a unit.
  KOKKOS_INLINE_FUNCTION Matrix<double> h_of(Matrix<double> states, int layer) const {
    return states.rows_from(2 * width * layer, width);
  }
  KOKKOS_INLINE_FUNCTION Matrix<double> gates_of(Matrix<double> z, int layer) const {
    return z.rows_from(4 * width * layer, 4 * width);
  }
  KOKKOS_INLINE_FUNCTION Matrix<double> units_of(Matrix<double> cells, int layer) const {
    return cells.rows_from(width * layer, width);
  }
};

/// A step's arrays, a column each for the streams or points that take it together.
struct Step {
  Matrix<double> x;          ///< inputs, with the types' embeddings at tokens
  Matrix<double> z;          ///< gates of the layers; in the adjoint, for which they make room, what Lstm::back() says
  Matrix<double> next;       ///< new state
  Matrix<double> h_adjoint;  ///< adjoint only: by the layers' new h

  KOKKOS_INLINE_FUNCTION Step(Scratch& scratch, const Lstm& s, int inputs, int columns, bool with_adjoint)
      : x(scratch.take(inputs, columns)),
        z(scratch.take(with_adjoint ? s.back() : s.gates(), columns)),
        next(scratch.take(s.state(), columns)),
        h_adjoint(scratch.take(with_adjoint ? s.cells() : 0, columns)) {}

  /// Its first n columns.
  KOKKOS_INLINE_FUNCTION Step first(int n) const {
    Step step = *this;
    step.x.columns = step.z.columns = step.next.columns = step.h_adjoint.columns = n;
    return step;
  }
};

KOKKOS_INLINE_FUNCTION double sigmoid(double x) { return 1 / (1 + fast_exp(-x)); }

/// hidden(c) [gates] = W_h h + b of all layers for the states step.next; step.z is overwritten.
template <class D, class Hidden>
KOKKOS_INLINE_FUNCTION void hidden_parts(const Member& member, const Lstm& s, const double* w, const Hidden& hidden,
                                         const Step& step) {
  for (int layer = 0; layer < s.layers; ++layer)
    D::product(member, 1, s.hidden_matrix(w, layer), s.h_of(step.next, layer), 0, s.gates_of(step.z, layer));
  for (int layer = 0; layer < s.layers; ++layer) {
    const Matrix z = s.gates_of(step.z, layer);
    const double* bias = s.matrix(w, layer).column(s.rows(layer) - 1);
    team_for_columns(member, z.rows, z.columns, [=, &hidden](int c) {
      double* out = hidden(c) + z.rows * layer;
      const double* column = z.column(c);
      return [=](int u) { out[u] = column[u] + bias[u]; };
    });
  }
  member.team_barrier();
}

/// One step: column c goes from the state previous(c), which may be its place in step.next, with the hidden parts
/// hidden(c), the input input(c) and, where step.x has rows for its embedding, type(c), to step.next. z holds the
/// gates' activations afterwards.
template <class D, class Previous, class Hidden, class Input, class Type>
KOKKOS_INLINE_FUNCTION void advance(const Member& member, const Lstm& s, const double* w, const Previous& previous,
                                    const Hidden& hidden, const Input& input, const Type& type, const Step& step) {
  const int width = s.width;
  const Matrix x = step.x, next = step.next;
  const Matrix embeddings(w, s.type_width, s.types);
  team_for_columns(member, x.rows, x.columns, [=, &input, &type](int c) {
    double* column = x.column(c);
    const double* from = input(c);
    const double* embedded = x.rows > s.inputs ? embeddings.column(type(c)) : nullptr;
    return [=](int r) { column[r] = r < s.inputs ? from[r] : embedded[r - s.inputs]; };
  });
  member.team_barrier();
  for (int layer = 0; layer < s.layers; ++layer) {
    const int base = 2 * width * layer;
    const Matrix below = layer == 0 ? x : s.h_of(next, layer - 1), z = s.gates_of(step.z, layer);
    D::product(member, 1, s.matrix(w, layer).columns_from(0, below.rows), below, 0, z);
    team_for_columns(member, width, z.columns, [=, &previous, &hidden](int c) {
      double* gates = z.column(c);
      const double* part = hidden(c) + z.rows * layer;
      const double* c_before = previous(c) + base + width;
      double* h = next.column(c) + base;
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
KOKKOS_INLINE_FUNCTION void advance_adjoint(const Member& member, const Lstm& s, const double* w,
                                            const Previous& previous, const Type& type, const Step& step,
                                            double* gradient) {
  const int width = s.width;
  const Matrix next = step.next;
  for (int layer = s.layers - 1; layer >= 0; --layer) {
    const int base = 2 * width * layer;
    const Matrix z = s.gates_of(step.z, layer), h_adjoint = s.units_of(step.h_adjoint, layer);
    const Matrix cells = s.units_of(step.z.rows_from(s.gates(), s.cells()), layer);
    team_for_columns(member, width, z.columns, [=, &previous](int c) {
      double *gates = z.column(c), *cell_bar = cells.column(c);
      const double* c_before = previous(c) + base + width;
      const double* c_next = next.column(c) + base + width;
      const double* h_bar = h_adjoint.column(c);
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
    const Matrix below = layer == 0 ? step.x : s.h_of(next, layer - 1);
    D::product(member, 1, z, transposed(below), 1, s.matrix(gradient, layer).columns_from(0, below.rows));
    const Matrix weights = s.matrix(w, layer);
    if (layer > 0) {
      D::product(member, 1, transposed(weights.columns_from(0, width)), z, 1, s.units_of(step.h_adjoint, layer - 1));
    } else if (step.x.rows > s.inputs) {
      const Matrix by_embedding(step.x.data, s.type_width, z.columns);
      D::product(member, 1, transposed(weights.columns_from(s.inputs, s.type_width)), z, 0, by_embedding);
      team_add_by_group(member, by_embedding, type, Matrix(gradient, s.type_width, s.types));
      member.team_barrier();
    }
  }
}

}  // namespace fedpp::gpu::lstm
