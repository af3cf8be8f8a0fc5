// Cholesky factor and inverse of small matrices on one core of a host, column-major, in panels whose products are
// host_product's: of 128 rows or fewer a vendor's LAPACK spends its time on calls.
#pragma once

namespace fedpp::gpu {

/// Lower Cholesky factor in place of a[m x m], m <= kMostRows; the upper triangle is neither read nor written. Returns
/// 0, or 1 + the index of the first pivot that is not positive (NaN is not), which then stands on the diagonal.
int host_cholesky(int m, double* a, int lda);

/// L^-1 with zeros above the diagonal, [m x m], apart from l;  l: [m x m] lower, its upper triangle is not read.
void host_invert_lower(int m, const double* l, double* inverse);

}  // namespace fedpp::gpu
