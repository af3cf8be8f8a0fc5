#include "gpu/host_product.hpp"

#include <algorithm>
#include <cstring>

namespace fedpp::gpu {

namespace {

using Index = std::ptrdiff_t;

// A block of C stays in registers while A and B pass by: of the vector registers (16; 32 with AVX-512) two a column.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kColumns = 12;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32, kColumns = 6;
#else
constexpr int kVectorBytes = 16, kColumns = 6;
#endif

constexpr int kDepth = 64;  // of A and B at a time: both stay in the first cache

/// A block of C with `vectors` vectors of rows.
template <class T, int bytes, int vectors, int columns>
void block(int k, T alpha, const T* a, Index lda, const T* b, Index step, Index column, T beta, T* c, Index ldc) {
  typedef T Vector __attribute__((vector_size(bytes)));
  constexpr int width = bytes / static_cast<int>(sizeof(T));
  Vector sum[columns][vectors] = {};
  for (int p = 0; p < k; ++p, a += lda, b += step) {
    Vector rows[vectors];
    for (int r = 0; r < vectors; ++r) std::memcpy(&rows[r], a + r * width, bytes);
    for (int j = 0; j < columns; ++j)
      for (int r = 0; r < vectors; ++r) sum[j][r] += rows[r] * b[j * column];
  }
  for (int j = 0; j < columns; ++j)
    for (int r = 0; r < vectors; ++r) {
      T* at = c + j * ldc + r * width;
      Vector entries = alpha * sum[j][r];
      if (beta != 0) {
        Vector old;
        std::memcpy(&old, at, bytes);
        entries += beta * old;
      }
      std::memcpy(at, &entries, bytes);
    }
}

/// Rows `row` to m of `columns` columns of C, of A's columns from `first`: blocks of two vectors, and ever smaller ones
/// for the rest.
template <class T, int columns>
void strip(Part part, int row, int m, int first, int k, T alpha, const T* a, Index lda, const T* b, Index step,
           Index column, T beta, T* c, Index ldc) {
  const auto blocks = [&]<int bytes, int vectors>() {
    constexpr int rows = vectors * bytes / static_cast<int>(sizeof(T));
    for (; row + rows <= m; row += rows) {
      const int depth = part == Part::kLowerTriangle ? std::min(k, row + rows - first) : k;
      if (depth > 0) block<T, bytes, vectors, columns>(depth, alpha, a + row, lda, b, step, column, beta, c + row, ldc);
    }
  };
  blocks.template operator()<kVectorBytes, 2>();
  blocks.template operator()<kVectorBytes, 1>();
  if constexpr (kVectorBytes > 32) blocks.template operator()<32, 1>();
  if constexpr (kVectorBytes > 16) blocks.template operator()<16, 1>();
  if constexpr (sizeof(T) < 8) blocks.template operator()<8, 1>();
  blocks.template operator()<static_cast<int>(sizeof(T)), 1>();
}

/// All columns of C, of `k` columns of A from `first` on.
template <class T>
void slice(Part part, int m, int n, int first, int k, T alpha, const T* a, Index lda, const T* b, Index step,
           Index column, T beta, T* c, Index ldc) {
  int j = 0;
  const auto strips = [&]<int columns>() {
    for (; j + columns <= n; j += columns)
      strip<T, columns>(part, part == Part::kLowerResult ? j : 0, m, first, k, alpha, a, lda, b + j * column, step,
                        column, beta, c + j * ldc, ldc);
  };
  strips.template operator()<kColumns>();
  strips.template operator()<2>();
  strips.template operator()<1>();
}

}  // namespace

template <class T>
void host_product(Part part, int m, int n, int k, T alpha, const T* a, Index lda, const T* b, Index step, Index column,
                  T beta, T* c, Index ldc) {
  for (int p = 0; p == 0 || p < k; p += kDepth)
    slice<T>(part, m, n, p, std::min(k - p, kDepth), alpha, a + p * lda, lda, b + p * step, step, column,
             p == 0 ? beta : T(1), c, ldc);
}

template <class T>
void host_product_transposed(int m, int n, int k, T alpha, const T* a, Index lda, const T* b, Index step, Index column,
                             T beta, T* c, Index ldc) {
  T columns[kMostRows * kDepth];
  for (int p = 0; p == 0 || p < k; p += kDepth) {
    const int depth = std::min(k - p, kDepth);
    for (int i = 0; i < m; ++i)
      for (int q = 0; q < depth; ++q) columns[i + q * m] = a[p + q + i * lda];
    slice<T>(Part::kWhole, m, n, p, depth, alpha, columns, m, b + p * step, step, column, p == 0 ? beta : T(1), c, ldc);
  }
}

#define FEDPP_HOST_PRODUCTS(T)                                                                                  \
  template void host_product<T>(Part, int, int, int, T, const T*, Index, const T*, Index, Index, T, T*, Index); \
  template void host_product_transposed<T>(int, int, int, T, const T*, Index, const T*, Index, Index, T, T*, Index);
FEDPP_HOST_PRODUCTS(double)
FEDPP_HOST_PRODUCTS(float)
#undef FEDPP_HOST_PRODUCTS

}  // namespace fedpp::gpu
