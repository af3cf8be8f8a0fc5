// The barycentre of Gaussians in maximum mean discrepancy with a Gaussian kernel of bandwidth d (theory 2.1): per
// weight, minimise
//   F(mu, sigma) = 1/sqrt(d^2+4 sigma^2) - 2 sum_c alpha_c exp(-(r_c-mu)^2/v_c)/sqrt(v_c),
//   v_c = d^2 + 2 delta_c^2 + 2 sigma^2.
#pragma once

#include <cstdint>

#include "federation/accepted_uploads.hpp"

namespace fedpp::federation {

struct MmdBarycentre {
  Gaussian theta;
  int evaluations = 0;           ///< of F for all weights at once: collectives
  std::int64_t unconverged = 0;  ///< weights stopped at the limit of evaluations
};

/// Newton on (mu, log sigma) from `start`, each weight for itself, all in step: one collective of 6 exact sums a weight
/// still moving evaluates F, its gradient and its Hessian. Where the Hessian is indefinite, its eigenvalues are taken
/// positive, and a saddle is left along negative curvature; steps that do not lower F enough are halved, so F never
/// rises beyond rounding. The answer is a local minimum: F can have several where uploads lie many bandwidths apart.
/// \param start the barycentre of kl, which is that of mmd where d is large (a kernel so wide sees two moments): they
/// differ by the order of (sd / d)^2. From d = 1000 sd on it is the answer, since F is flat there to rounding: its
/// curvature is of the order of (sd / d)^4.
MmdBarycentre mmd_barycentre(const AcceptedUploads& uploads, const Gaussian& start, double bandwidth);

/// sqrt(2) times the median over uploads and weights of |r_c - mu|, but at least 1e-3: of the order of the median
/// distance of two uploads. The (lower) median is found exactly, by bisection on counts, so it does not depend on the
/// ranks, and no upload is seen: 63 sums of one integer.
double median_bandwidth(const AcceptedUploads& uploads, std::span<const double> mean);

}  // namespace fedpp::federation
