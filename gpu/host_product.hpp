// Products of small matrices on one core of a host, column-major: up to kMostRows rows, where a vendor's BLAS spends
// its time on packing and on halves that nobody asked for. An entry's bits depend on its row, its column and the depth,
// never on how many others there are.
#pragma once

#include "gpu/ahead.hpp"

namespace fedpp::gpu {

constexpr int kMostRows =
    128;  ///< of C: what a slice of A' takes on the stack is bounded by it; larger ones are the vendor's

/// Up to so many rows products, factors and inverses on hosts are ours (gpu/host_product.hpp, gpu/host_cholesky.hpp).
/// Where the build may not count on fused multiplication and addition (x86-64 below v3), the vendor's, who looks at the
/// processor when the program runs, are twice as fast.
#if defined(__x86_64__) && !defined(__FMA__)
constexpr int kOurRows = 0;
#else
constexpr int kOurRows = kMostRows;
#endif

/// What is asked for. Entries of C and A on the other side of the diagonal may be read and written all the same.
enum class Part {
  kWhole,
  kLowerResult,    ///< the lower triangle of C, m = n; what becomes of the upper one is left open
  kLowerTriangle,  ///< A is lower triangular with zeros above the diagonal, m = k
  kUpperTriangle,  ///< A is upper triangular with zeros below the diagonal, m = k
};

/// C = alpha A B + beta C;  C of kMostRows rows or fewer, not read where beta = 0. Where A is no transpose it fetches as
/// many lines of `ahead` as it makes steps.
template <class T>
void host_product(Part part, Same<T> alpha, Factor<Same<T>> a, Factor<Same<T>> b, Same<T> beta, Matrix<T> c,
                  Ahead ahead = {});

}  // namespace fedpp::gpu
