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

int host_cholesky(int m, double* a, int lda) {
  assert(m <= kMostRows);
  double done[kMostRows * kPanelColumns];
  for (int j = 0; j < m; j += kPanelColumns) {
    const int rows = m - j, columns = std::min(kPanelColumns, rows);
    double* panel = a + j + static_cast<Index>(j) * lda;
    const double* left = a + j;  // [rows x j]: what is finished of these rows
    if (j > 0) host_product<double>(Part::kWhole, rows, columns, j, 1, left, lda, left, lda, 1, 0, done, rows);
    for (int c = 0; c < columns; ++c) {
      double* column = panel + static_cast<Index>(c) * lda;
      if (j > 0) {
        const double* subtract = done + c * rows;
        FEDPP_INDEPENDENT
        for (int r = c; r < rows; ++r) column[r] -= subtract[r];
      }
      for (int k = 0; k < c; ++k) {
        const double* before = panel + static_cast<Index>(k) * lda;
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

void host_invert_lower(int m, const double* l, double* inverse) {
  assert(m <= kMostRows);
  double product[kPanelColumns * kMostRows];
  std::fill_n(inverse, static_cast<Index>(m) * m, 0.0);
  for (int j = 0; j < m; j += kPanelColumns) {
    const int n = std::min(kPanelColumns, m - j);
    const Index corner = j + static_cast<Index>(j) * m;
    double row[kPanelColumns][kPanelColumns] = {};  // of the diagonal block's inverse
    for (int r = 0; r < n; ++r) {
      const double reciprocal = 1 / l[corner + r + static_cast<Index>(r) * m];
      for (int k = 0; k < r; ++k) {
        const double factor = l[corner + r + static_cast<Index>(k) * m];
        for (int c = 0; c < kPanelColumns; ++c) row[r][c] -= factor * row[k][c];
      }
      for (int c = 0; c < kPanelColumns; ++c) row[r][c] *= reciprocal;
      row[r][r] = reciprocal;
      for (int c = 0; c <= r; ++c) inverse[corner + r + static_cast<Index>(c) * m] = row[r][c];
    }
    if (j == 0) continue;
    // To the left of the block: -(its inverse) (L's rows there) (the inverse so far)
    host_product<double>(Part::kWhole, n, j, j, 1, l + j, m, inverse, 1, m, 0, product, n);
    host_product<double>(Part::kLowerTriangle, n, j, n, -1, inverse + corner, m, product, 1, n, 0, inverse + j, m);
  }
}

}  // namespace fedpp::gpu

#endif
