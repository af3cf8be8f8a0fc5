// Cholesky factor and inverse of small matrices on one core of a host, column-major, in panels whose products are
// host_product's: of 128 rows or fewer a vendor's LAPACK spends its time on calls.
#pragma once

#include "gpu/matrix.hpp"

namespace fedpp::gpu {

/// Lower Cholesky factor in place, of kMostRows rows or fewer; the upper triangle is neither read nor written. Returns
/// 0, or 1 + the index of the first pivot that is not positive (NaN is not), which then stands on the diagonal.
int host_cholesky(Matrix<double> a);

/// X = L^-1 with zeros above the diagonal, without gaps and apart from L, whose upper triangle is not read.
void host_invert_lower(Matrix<const double> l, Matrix<double> x);

}  // namespace fedpp::gpu
