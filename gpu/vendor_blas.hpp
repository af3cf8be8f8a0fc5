// The BLAS that is linked: whether the kernels need it, and what it made of this processor.
#pragma once

#include <string>

#include "gpu/host_product.hpp"

namespace fedpp::gpu {

/// Up to so many rows products, factors and inverses on hosts are ours (gpu/host_product.hpp, gpu/host_cholesky.hpp).
/// Where the build may not count on fused multiplication and addition (x86-64 below v3), the vendor's, who looks at the
/// processor when the program runs, are twice as fast.
#if defined(__x86_64__) && !defined(__FMA__)
constexpr int kOurRows = 0;
#else
constexpr int kOurRows = kMostRows;
#endif

/// "vendor BLAS", of OpenBLAS with the processor whose kernels it chose: "vendor BLAS (OpenBLAS for SkylakeX)".
std::string vendor_blas();

/// What to do where an OpenBLAS older than the processor fell back to kernels without AVX2 and matrices of so many rows
/// are its own to multiply; else empty.
std::string vendor_blas_remedy(int rows);

}  // namespace fedpp::gpu
