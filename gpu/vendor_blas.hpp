// The BLAS that is linked, and what it made of this processor.
#pragma once

#include <string>

namespace fedpp::gpu {

/// "vendor BLAS", of OpenBLAS with the processor whose kernels it chose: "vendor BLAS (OpenBLAS for SkylakeX)".
std::string vendor_blas();

/// What to do where an OpenBLAS older than the processor fell back to kernels without AVX2 and matrices of so many rows
/// are its own to multiply; else empty.
std::string vendor_blas_remedy(int rows);

}  // namespace fedpp::gpu
