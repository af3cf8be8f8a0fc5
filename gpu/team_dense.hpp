// The dense seam's team kernels, on any backend (gpu/dense.hpp says what each computes). Written for a device's warps:
// neighbouring threads read neighbouring rows, a product's entries stay in registers while the factors pass by, and no
// thread reads what another writes but across a barrier. An entry's additions have one order, whatever the team's size.
#pragma once

#include <utility>

#include "gpu/ahead.hpp"
#include "gpu/matrix.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

/// The entries of a product that one thread forms: `size` rows, as far apart from each other as they share the matrix,
/// of `size` columns. With four eight numbers are read for sixteen multiplications; one entry a thread would read two
/// for each.
template <class T, int size>
struct ProductBlock {
  T sum[size][size] = {};
  const T* left[size];   ///< its rows of A
  const T* right[size];  ///< its columns of B

  /// Adds the terms begin <= p < end to the rows from `first` on.
  template <int first>
  KOKKOS_INLINE_FUNCTION void add(int begin, int end, Index step_a, Index step_b) {
    for (int p = begin; p < end; ++p) {
      T x[size], y[size];
      for (int q = first; q < size; ++q) x[q] = left[q][p * step_a];
      for (int j = 0; j < size; ++j) y[j] = right[j][p * step_b];
      for (int q = first; q < size; ++q)
        for (int j = 0; j < size; ++j) sum[q][j] += x[q] * y[j];
    }
  }
};

struct TeamDense {
  template <class T>
  KOKKOS_INLINE_FUNCTION static void product(const Member& member, Same<T> alpha, Factor<Same<T>> a, Factor<Same<T>> b,
                                             Same<T> beta, Matrix<T> c, Ahead = {}) {
    half_product<Half::kNone, T>(member, alpha, a, b, beta, c);
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION static void lower_product(const Member& member, Same<T> alpha, Matrix<const Same<T>> a,
                                                   Matrix<const Same<T>> b, Same<T> beta, Matrix<T> c, Ahead = {}) {
    half_product<Half::kResult, T>(member, alpha, a, transposed(b), beta, c);
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION static void triangle_times(const Member& member, Matrix<const Same<T>> l,
                                                    Matrix<const Same<T>> b, Matrix<T> c, Ahead = {}) {
    half_product<Half::kFactor, T>(member, 1, l, b, 0, c);
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION static void transposed_triangle_times(const Member& member, Matrix<const Same<T>> l,
                                                               Matrix<const Same<T>> b, Matrix<T> c) {
    half_product<Half::kTransposedFactor, T>(member, 1, transposed(l), b, 0, c);
  }

  /// Panels from the left. Of a panel column after column, each less what the panel's columns before it explain: one
  /// barrier a column, and every thread forms the pivot for itself. Then all that is right of the panel, less what the
  /// panel explains: a product, whose entries are in registers.
  KOKKOS_INLINE_FUNCTION static int potrf(const Member& member, Matrix<double> a) {
    const int m = a.rows;
    for (int first = 0; first < m; first += kPanel) {
      const int last = least(first + kPanel, m);
      const auto unexplained = [=](int i, int j) {
        double value = a(i, j);
        for (int p = first; p < j; ++p) value -= a(i, p) * a(j, p);
        return value;
      };
      for (int j = first; j < last; ++j) {
        const double pivot = unexplained(j, j);
        const bool failed = !(pivot > 0);
        const double root = failed ? pivot : math::sqrt(pivot);
        if (!failed)
          for (int i = j + 1 + member.team_rank(); i < m; i += member.team_size()) a(i, j) = unexplained(i, j) / root;
        member.team_barrier();  // all have read the diagonal's entry, which nobody reads from here on
        if (member.team_rank() == 0) a(j, j) = root;
        if (failed) {
          member.team_barrier();
          return j + 1;
        }
      }
      const Matrix<double> below = a.rows_from(last, m - last);
      const Matrix<const double> panel = below.columns_from(first, last - first);
      lower_product(member, -1, panel, panel, 1, below.columns_from(last, m - last));
    }
    return 0;
  }

  /// X = L^-1 by panels of columns J, R being the rows below a panel's square: X_JJ = L_JJ^-1 and T_J = L_RJ X_JJ for
  /// all panels at once, T_J' in X's upper triangle; then X_RJ = -X_RR T_J from the right, a barrier a panel.
  KOKKOS_INLINE_FUNCTION static void invert_lower(const Member& member, Matrix<const double> l, Matrix<double> x) {
    const int m = x.rows;
    for (int i = member.team_rank(); i < m; i += member.team_size())  // a row waits for nobody
      for (int j = i; j >= i / kPanel * kPanel; --j) {
        double value = i == j ? 1 : 0;
        for (int p = j + 1; p <= i; ++p) value -= x(i, p) * l(p, j);
        x(i, j) = value / l(j, j);
      }
    member.team_barrier();
    team_for_2d(member, m, m, [=](int i, int j) {
      const int last = (j / kPanel + 1) * kPanel;
      if (i < last) return;
      double sum = 0;
      for (int p = j; p < last; ++p) sum += l(i, p) * x(p, j);
      x(j, i) = sum;
    });
    member.team_barrier();
    for (int first = (m - 1) / kPanel * kPanel - kPanel; first >= 0; first -= kPanel) {
      const int last = first + kPanel;
      team_for_2d(member, m - last, kPanel, [=](int row, int column) {
        const int i = last + row, j = first + column;
        double sum = 0;
        for (int p = last; p <= i; ++p) sum += x(i, p) * x(j, p);
        x(i, j) = -sum;
      });
      member.team_barrier();
    }
    team_for_2d(member, m, m, [=](int i, int j) {
      if (i < j) x(i, j) = 0;
    });
    member.team_barrier();
  }

 private:
  static constexpr int kPanel = 8;  ///< columns of a panel

  /// Which half of a square matrix is not asked for, or known to be zero: the upper one of the result or of the factor,
  /// or the lower one of a factor that is the transpose of a lower one.
  enum class Half { kNone, kResult, kFactor, kTransposedFactor };

  /// C = alpha A B + beta C. Blocks are as large as leaves every thread one.
  template <Half half, class T>
  KOKKOS_INLINE_FUNCTION static void half_product(const Member& member, T alpha, Factor<T> a, Factor<T> b, T beta,
                                                  Matrix<T> c) {
    const int threads = member.team_size();
    if (blocks(c.rows, c.columns, 4) >= threads)
      product_of_blocks<half, 4>(member, alpha, a, b, beta, c);
    else if (blocks(c.rows, c.columns, 2) >= threads)
      product_of_blocks<half, 2>(member, alpha, a, b, beta, c);
    else
      product_of_blocks<half, 1>(member, alpha, a, b, beta, c);
    member.team_barrier();
  }

  template <Half half, int size, class T>
  KOKKOS_INLINE_FUNCTION static void product_of_blocks(const Member& member, T alpha, Factor<T> a, Factor<T> b, T beta,
                                                       Matrix<T> c) {
    const int m = c.rows, n = c.columns, k = a.columns;
    const Index step_a = a.right(), step_b = b.down();
    const int apart = (m + size - 1) / size;  // a thread has the rows u, u + apart, ...
    const int across = (n + size - 1) / size;
    // Neighbouring threads have neighbouring rows. Those of a transposed factor lie columns apart in memory: a warp takes
    // eight of them, so that it waits for eight lines at a time instead of up to 32.
    const int band = a.transposed ? least(8, apart) : apart;
    for (int item = member.team_rank(); item < apart * across; item += member.team_size()) {
      const int above = item / (band * across) * band, wide = least(band, apart - above);
      const int in_band = item - above * across;
      const int u = above + in_band % wide, column = in_band / wide * size;
      ProductBlock<T, size> block;  // rows and columns beyond the end are copies of the last one, and not kept
      for (int q = 0; q < size; ++q) block.left[q] = a.data + least(u + q * apart, m - 1) * a.down();
      for (int j = 0; j < size; ++j) block.right[j] = b.data + least(column + j, n - 1) * b.right();
      // Of a warp's threads each leaves out as many rows, or they would wait for each other.
      const int first = half == Half::kResult ? column / apart : 0;  // rows before are above all of the block's columns
      const auto add = [&]<int q>() {
        if constexpr (half == Half::kFactor)  // row i of A ends at its diagonal
          block.template add<q>(least(q * apart, k), q + 1 < size ? least((q + 1) * apart, k) : k, step_a, step_b);
        else if constexpr (half == Half::kResult) {
          if (q == first) block.template add<q>(0, k, step_a, step_b);
        } else if constexpr (q == 0)  // row i of a transposed triangle begins at its diagonal
          block.template add<0>(half == Half::kTransposedFactor ? u : 0, k, step_a, step_b);
      };
      [&]<int... q>(std::integer_sequence<int, q...>) {
        (add.template operator()<q>(), ...);
      }(std::make_integer_sequence<int, size>());
      for (int j = 0; j < size; ++j)
        for (int q = 0; q < size; ++q) {
          const int row = u + q * apart;
          if (q < first || row >= m || column + j >= n) continue;
          if (half == Half::kResult && row < column + j) continue;
          T& entry = c(row, column + j);
          entry = beta == 0 ? alpha * block.sum[q][j] : alpha * block.sum[q][j] + beta * entry;
        }
    }
  }

  KOKKOS_INLINE_FUNCTION static int blocks(int m, int n, int size) {
    return (m + size - 1) / size * ((n + size - 1) / size);
  }
  KOKKOS_INLINE_FUNCTION static int least(int a, int b) { return a < b ? a : b; }
};

}  // namespace fedpp::gpu
