// Products of small matrices on one core of a host, column-major: up to kMostRows rows, where a vendor's BLAS spends
// its time on packing and on halves that nobody asked for. An entry's bits depend on its row, its column and the depth,
// never on how many others there are.
#pragma once

#include <cstddef>

#include "gpu/ahead.hpp"

namespace fedpp::gpu {

constexpr int kMostRows =
    128;  ///< of C: what a slice of A' takes on the stack is bounded by it; larger ones are the vendor's

/// What is asked for. Entries of C and A on the other side of the diagonal may be read and written all the same.
enum class Part {
  kWhole,
  kLowerResult,    ///< the lower triangle of C, m = n; what becomes of the upper one is left open
  kLowerTriangle,  ///< A is lower triangular with zeros above the diagonal, m = k
  kUpperTriangle,  ///< A is upper triangular with zeros below the diagonal, m = k
};

/// C = alpha A op(B) + beta C;  A: [m x k], m <= kMostRows, C: [m x n]; row p, column j of op(B) is
/// b[p * step + j * column]. C is not read where beta = 0. Of `ahead` it fetches as many lines as it makes steps.
template <class T>
void host_product(Part part, int m, int n, int k, T alpha, const T* a, std::ptrdiff_t lda, const T* b,
                  std::ptrdiff_t step, std::ptrdiff_t column, T beta, T* c, std::ptrdiff_t ldc, Ahead ahead = {});

/// The same with A' instead of A;  A: [k x m].
template <class T>
void host_product_transposed(Part part, int m, int n, int k, T alpha, const T* a, std::ptrdiff_t lda, const T* b,
                             std::ptrdiff_t step, std::ptrdiff_t column, T beta, T* c, std::ptrdiff_t ldc);

}  // namespace fedpp::gpu
