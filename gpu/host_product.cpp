#include "gpu/host_product.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#if !defined(__CUDACC__) && !defined(__HIPCC__)  // a device's build has team kernels only

namespace fedpp::gpu {

namespace {

using Stride = std::ptrdiff_t;

// A block of C stays in registers while A and B pass by: of the vector registers (16; 32 with AVX-512 and on 64-bit Arm,
// of which NEON's are taken) two a column. Where only a half of C is asked for, narrower strips leave out more of the
// other one. (The shape for Arm is AVX-512's, not measured.)
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kColumns = 12, kColumnsOfHalf = 8;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32, kColumns = 6, kColumnsOfHalf = 6;
#elif defined(__aarch64__)
constexpr int kVectorBytes = 16, kColumns = 12, kColumnsOfHalf = 8;
#else
constexpr int kVectorBytes = 16, kColumns = 6, kColumnsOfHalf = 6;
#endif

// Sums live in registers only if every index is a constant: compilers unroll so many iterations only when told.
#if defined(__clang__)
#define FEDPP_UNROLL _Pragma("unroll")
#else
#define FEDPP_UNROLL _Pragma("GCC unroll 12")
#endif

constexpr int kDepth = 64;  // of A and B at a time: at M = 50 both stay in the first cache

template <class T, int bytes, bool single>
struct VectorOf {
  // As little aligned as the numbers: the stack would be aligned for it, at the price of a register. Read and written
  // in an array's place: of a memcpy of 32 bytes GCC 12 makes two halves by way of the stack where there is AVX2 but no
  // AVX-512, which costs an Intel Xeon two thirds of the rate.
  typedef T type __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};
template <class T, int bytes>
struct VectorOf<T, bytes, true> {
  using type = T;
};

/// A block of C with `vectors` vectors of rows: alpha A B is written or added. Of a triangle only one of two vectors
/// has entries on one side of column `split` of A: the lower one of a lower triangle behind it, the upper one of an
/// upper triangle before it. (Were beta C + alpha A B formed here, or both ways in one function, the compiler might
/// fuse other operations in one block than in another, and bits would tell.) `fetch`: a line of `ahead` a step.
template <class T, bool add, Part part, int bytes, int vectors, int columns, bool fetch>
void block(int split, int k, T alpha, const T* a, Stride lda, const T* b, Stride step, Stride column, T* c, Stride ldc,
           const char* ahead) {
  using Vector = typename VectorOf<T, bytes, bytes == sizeof(T)>::type;
  constexpr int width = bytes / static_cast<int>(sizeof(T));
  Vector sum[columns][vectors] = {};
  const auto pass = [&]<int from, int to>(int begin, int end) {  // vectors, columns of A
    for (int p = begin; p < end; ++p) {
      if constexpr (fetch) __builtin_prefetch(ahead), ahead += kCacheLine;
      const T *left = a + p * lda, *right = b + p * step;
      Vector rows[vectors];
      for (int r = from; r < to; ++r) rows[r] = *reinterpret_cast<const Vector*>(left + r * width);
      FEDPP_UNROLL for (int j = 0; j < columns; ++j) for (int r = from; r < to; ++r) sum[j][r] +=
          rows[r] * right[j * column];
    }
  };
  constexpr bool halves = vectors == 2;
  pass.template operator()<0, halves && part == Part::kUpperTriangle ? 1 : vectors>(0, split);
  pass.template operator()<halves && part == Part::kLowerTriangle ? 1 : 0, vectors>(split, k);
  FEDPP_UNROLL for (int j = 0; j < columns; ++j) for (int r = 0; r < vectors; ++r) {
    Vector& entries = *reinterpret_cast<Vector*>(c + j * ldc + r * width);
    if constexpr (add) {
      entries += alpha * sum[j][r];
    } else {
      entries = alpha * sum[j][r];
    }
  }
}

/// Rows `row` to m of `columns` columns of C, of A's columns from `first`: blocks of two vectors, and ever smaller ones
/// for the rest.
template <class T, bool add, int columns>
void strip(Part part, int row, int m, int first, int k, T alpha, const T* a, Stride lda, const T* b, Stride step,
           Stride column, T* c, Stride ldc, Ahead& ahead) {
  const auto blocks = [&]<Part own, int bytes, int vectors>() {
    constexpr int width = bytes / static_cast<int>(sizeof(T)), rows = vectors * width;
    for (; row + rows <= m; row += rows) {
      const int begin = part == Part::kUpperTriangle ? std::clamp(row - first, 0, k) : 0;
      const int end = part == Part::kLowerTriangle ? std::min(k, row + rows - first) : k;
      const int split = own == Part::kWhole ? begin : std::clamp(row + width - first, begin, std::max(begin, end));
      const T *rows_of_a = a + row + begin * lda, *rows_of_b = b + begin * step;
      if (end <= begin && add) continue;
      if (vectors == 2 && ahead.next < ahead.end) {
        block<T, add, own, bytes, vectors, columns, vectors == 2>(split - begin, end - begin, alpha, rows_of_a, lda,
                                                                  rows_of_b, step, column, c + row, ldc, ahead.next);
        ahead.next += (end - begin) * kCacheLine;
      } else {
        block<T, add, own, bytes, vectors, columns, false>(split - begin, end - begin, alpha, rows_of_a, lda, rows_of_b,
                                                           step, column, c + row, ldc, nullptr);
      }
    }
  };
  if (part == Part::kLowerTriangle)
    blocks.template operator()<Part::kLowerTriangle, kVectorBytes, 2>();
  else if (part == Part::kUpperTriangle)
    blocks.template operator()<Part::kUpperTriangle, kVectorBytes, 2>();
  else
    blocks.template operator()<Part::kWhole, kVectorBytes, 2>();
  constexpr Part whole = Part::kWhole;  // what is left of a triangle, too
  blocks.template operator()<whole, kVectorBytes, 1>();
  if constexpr (kVectorBytes > 32) blocks.template operator()<whole, 32, 1>();
  if constexpr (kVectorBytes > 16) blocks.template operator()<whole, 16, 1>();
  if constexpr (sizeof(T) < 8) blocks.template operator()<whole, 8, 1>();
  blocks.template operator()<whole, static_cast<int>(sizeof(T)), 1>();
}

/// All columns of C, of `k` columns of A from `first` on, in strips as equal as can be: one of a column or two left
/// over would wait for its few sums.
template <class T, bool add>
void slice(Part part, int m, int n, int first, int k, T alpha, const T* a, Stride lda, const T* b, Stride step,
           Stride column, T* c, Stride ldc, Ahead& ahead) {
  constexpr int width = kVectorBytes / static_cast<int>(sizeof(T));
  int j = 0;
  const auto next = [&]<int columns>() {
    // A strip of a lower triangle may begin above the diagonal: whole vectors of rows cost less than what they leave.
    const int row = part == Part::kLowerResult ? std::max(0, m - (m - j + width - 1) / width * width) : 0;
    strip<T, add, columns>(part, row, m, first, k, alpha, a, lda, b + j * column, step, column, c + j * ldc, ldc,
                           ahead);
    j += columns;
  };
  const int most = part == Part::kLowerResult ? kColumnsOfHalf : kColumns;
  for (int strips = (n + most - 1) / most; strips > 0; --strips) {
    const int columns = (n - j + strips - 1) / strips;
    [&]<int... less>(std::integer_sequence<int, less...>) {
      (void)((columns == less + 1 && (next.template operator()<less + 1>(), true)) || ...);
    }(std::make_integer_sequence<int, kColumns>());
  }
}

/// The products of slices of A and B, written first (or added to beta C) and then added: calls f.template
/// operator()<add>(p, depth) for every slice.
template <class T, class F>
void slices(int m, int n, int k, T beta, T* c, Stride ldc, const F& f) {
  if (beta != 0 && beta != 1)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) c[i + j * ldc] *= beta;
  int p = 0;
  if (beta == 0) {
    f.template operator()<false>(p, std::min(k, kDepth));
    p = kDepth;
  }
  for (; p < k; p += kDepth) f.template operator()<true>(p, std::min(k - p, kDepth));
}

template <class T>
void product(Part part, int m, int n, int k, T alpha, const T* a, Stride lda, const T* b, Stride step, Stride column,
             T beta, T* c, Stride ldc, Ahead ahead) {
  slices(m, n, k, beta, c, ldc, [&]<bool add>(int p, int depth) {
    slice<T, add>(part, m, n, p, depth, alpha, a + p * lda, lda, b + p * step, step, column, c, ldc, ahead);
  });
}

/// With A' instead of A;  A: [k x m].
template <class T>
void transposed_product(Part part, int m, int n, int k, T alpha, const T* a, Stride lda, const T* b, Stride step,
                        Stride column, T beta, T* c, Stride ldc) {
  T columns[kMostRows * kDepth];
  Ahead nothing;
  slices(m, n, k, beta, c, ldc, [&]<bool add>(int p, int depth) {
    for (int i = 0; i < m; ++i)
      for (int q = 0; q < depth; ++q) columns[i + q * m] = a[p + q + i * lda];
    slice<T, add>(part, m, n, p, depth, alpha, columns, m, b + p * step, step, column, c, ldc, nothing);
  });
}

}  // namespace

template <class T>
void host_product(Part part, Same<T> alpha, Factor<Same<T>> a, Factor<Same<T>> b, Same<T> beta, Matrix<T> c,
                  Ahead ahead) {
  assert(c.rows <= kMostRows && a.rows == c.rows && a.columns == b.rows && b.columns == c.columns);
  if (a.transposed)
    transposed_product(part, c.rows, c.columns, a.columns, alpha, a.data, a.stride, b.data, b.down(), b.right(), beta,
                       c.data, c.stride);
  else
    product(part, c.rows, c.columns, a.columns, alpha, a.data, a.stride, b.data, b.down(), b.right(), beta, c.data,
            c.stride, ahead);
}

template void host_product<double>(Part, double, Factor<double>, Factor<double>, double, Matrix<double>, Ahead);
template void host_product<float>(Part, float, Factor<float>, Factor<float>, float, Matrix<float>, Ahead);

}  // namespace fedpp::gpu

#endif
