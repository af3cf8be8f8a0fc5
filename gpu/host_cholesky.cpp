#include "gpu/host_cholesky.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "gpu/host_product.hpp"
#include "gpu/team.hpp"

#if !defined(__CUDACC__) && !defined(__HIPCC__)  // a device's build has team kernels only

namespace fedpp::gpu {

namespace {
constexpr int kPanelColumns = 8;  // columns: two of AVX2's vectors
}

int host_cholesky(Matrix<double> a) {
  const int m = a.rows;
  assert(m <= kMostRows);
  double explained[kMostRows * kPanelColumns];
  for (int j = 0; j < m; j += kPanelColumns) {
    const int rows = m - j, columns = std::min(kPanelColumns, rows);
    const Matrix below = a.rows_from(j, rows), panel = below.columns_from(j, columns);
    const Matrix done(explained, rows, columns);
    if (j > 0) {
      const Matrix left = below.columns_from(0, j);  // what is finished of these rows
      host_product(Part::kWhole, 1, left, transposed(left.rows_from(0, columns)), 0, done);
    }
    for (int c = 0; c < columns; ++c) {
      double* column = panel.column(c);
      if (j > 0) {
        const double* subtract = done.column(c);
        FEDPP_INDEPENDENT
        for (int r = c; r < rows; ++r) column[r] -= subtract[r];
      }
      for (int k = 0; k < c; ++k) {
        const double* before = panel.column(k);
        const double factor = before[c];
        FEDPP_INDEPENDENT
        for (int r = c; r < rows; ++r) column[r] -= before[r] * factor;
      }
      if (!(column[c] > 0)) return j + c + 1;
      const double root = std::sqrt(column[c]), inverse = 1 / root;
      column[c] = root;
      for (int r = c + 1; r < rows; ++r) column[r] *= inverse;
    }
  }
  return 0;
}

void host_invert_lower(Matrix<const double> l, Matrix<double> x) {
  const int m = x.rows;
  assert(m <= kMostRows);
  double products[kPanelColumns * kMostRows];
  std::fill_n(x.data, x.size(), 0.0);
  for (int j = 0; j < m; j += kPanelColumns) {
    const int n = std::min(kPanelColumns, m - j);
    const Matrix l_rows = l.rows_from(j, n), l_block = l_rows.columns_from(j, n);
    const Matrix x_rows = x.rows_from(j, n), x_block = x_rows.columns_from(j, n);
    double row[kPanelColumns][kPanelColumns] = {};  // of the diagonal block's inverse
    for (int r = 0; r < n; ++r) {
      const double reciprocal = 1 / l_block(r, r);
      for (int k = 0; k < r; ++k) {
        const double factor = l_block(r, k);
        for (int c = 0; c < kPanelColumns; ++c) row[r][c] -= factor * row[k][c];
      }
      for (int c = 0; c < kPanelColumns; ++c) row[r][c] *= reciprocal;
      row[r][r] = reciprocal;
      for (int c = 0; c <= r; ++c) x_block(r, c) = row[r][c];
    }
    if (j == 0) continue;
    // To the left of the block: -(its inverse) (L's rows there) (the inverse so far)
    const Matrix product(products, n, j);
    host_product(Part::kWhole, 1, l_rows.columns_from(0, j), x.rows_from(0, j).columns_from(0, j), 0, product);
    host_product(Part::kLowerTriangle, -1, x_block, product, 0, x_rows.columns_from(0, j));
  }
}

}  // namespace fedpp::gpu

#endif
