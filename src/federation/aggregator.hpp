// The server's update: the barycentre of the accepted uploads becomes the new global Gaussian (theory 2.1, 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "federation/accepted_uploads.hpp"
#include "federation/gaussian.hpp"
#include "federation/robust_barycentre.hpp"
#include "mpi/communicator.hpp"

namespace fedpp::federation {

struct AggregatorOptions {
  Divergence rule = Divergence::kKl;
  mpi::FixedPoint format = mpi::FixedPoint::one_word(40);  ///< of the uploads' sums; mmd always takes two words
  double bandwidth = 0;                                    ///< d of mmd; 0: from the uploads (median_bandwidth)
  Estimator estimator = Estimator::kMean;                  ///< what stands for the mean over clients; not with mmd
  double trim = 0;                                         ///< share taken off at each end by the trimmed mean
};

struct Aggregation {
  Gaussian theta;                        ///< the same bits on every rank; the old one where nothing was accepted
  std::uint64_t accepted = 0;            ///< uploads used, over all ranks; 0: theta stays
  std::vector<RejectedUpload> rejected;  ///< of this rank's uploads
  double bandwidth = 0;                  ///< d that mmd used
  std::int64_t mmd_unconverged = 0;      ///< weights whose Newton iteration ran to its limit
};

class Aggregator {
 public:
  Aggregator(const AggregatorOptions& options, mpi::Communicator& comm) : options_(options), comm_(comm) {}

  /// Collective. `theta`: the Gaussian that was broadcast, [P]; `uploads`: those of this rank's
  /// participants. kl, w2 and fedavg take one reduction of 2P sums beside one of the weights; kl a second one of P
  /// where theta's mean is so far from the new one that the variance would cancel. Uploads that the sums cannot hold
  /// are rejected, too.
  Aggregation aggregate(const Gaussian& theta, std::span<const Upload> uploads) const;

  /// The same of uploads that are accepted and weighted, at least one.
  Aggregation barycentre(const Gaussian& theta, const AcceptedUploads& accepted) const;

 private:
  /// kl, w2 and fedavg.
  Gaussian closed_form(Divergence rule, const AcceptedUploads& uploads, const Gaussian& theta,
                       mpi::FixedPoint format) const;

  AggregatorOptions options_;
  mpi::Communicator& comm_;
};

}  // namespace fedpp::federation
