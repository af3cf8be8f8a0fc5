#include "federation/aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "federation/mmd_barycentre.hpp"

namespace fedpp::federation {

namespace {

using Weighted = AcceptedUploads::Weighted;
constexpr std::string_view kTraffic = "reduce uploads";

// Square root of a summed variance; zero or less means that the sums were too coarse: on every rank alike.
double sd_of(double variance, std::size_t parameter, mpi::FixedPoint format) {
  if (variance > 0) return std::sqrt(variance);
  throw mpi::AgreedError(
      fmt::format("aggregation: the variance of weight {} is below the resolution 2^-{} of the sums: choose more "
                  "aggregation.fraction_bits",
                  parameter, format.fraction_bits),
      /*origin=*/0, /*mistake=*/true);
}

/// The largest term of an upload in the sums of its rule; mmd starts at kl.
double largest_term(Divergence rule, const Gaussian& theta, const Weighted& w) {
  double largest = 0;
  for (std::size_t p = 0; p < theta.mean.size(); ++p) {
    const double deviation =
        rule == Divergence::kKl || rule == Divergence::kMmd ? w.upload.mean[p] - theta.mean[p] : 0.0;
    const double spread =
        rule == Divergence::kW2 ? w.upload.sd[p] : w.upload.sd[p] * w.upload.sd[p] + deviation * deviation;
    largest = std::max({largest, std::fabs(w.upload.mean[p]), spread});
  }
  return w.alpha * largest;
}

}  // namespace

Gaussian Aggregator::kl(const AcceptedUploads& uploads, const Gaussian& theta, mpi::FixedPoint format) const {
  const std::size_t parameters = theta.mean.size();
  // Squared deviations from a common point, not raw second moments, which cancel.
  const auto squares_around = [&](const std::vector<double>& point, std::size_t p, const Weighted& w) {
    const double deviation = w.upload.mean[p] - point[p];
    return w.alpha * (w.upload.sd[p] * w.upload.sd[p] + deviation * deviation);
  };
  // [P] sum alpha r, [P] sum alpha (delta^2 + (r - mu_old)^2)
  const auto totals = uploads.total(2 * parameters, format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
    for (std::size_t p = 0; p < parameters; ++p) {
      partial.add(p, w.alpha * w.upload.mean[p]);
      partial.add(parameters + p, squares_around(theta.mean, p, w));
    }
  });
  Gaussian next;
  next.mean.assign(totals.begin(), totals.begin() + parameters);
  std::vector<double> variance(parameters);
  bool cancels = false;
  for (std::size_t p = 0; p < parameters; ++p) {
    const double shift = next.mean[p] - theta.mean[p];
    variance[p] = totals[parameters + p] - shift * shift;
    cancels = cancels || variance[p] < 1e-3 * shift * shift;
  }
  if (cancels) {
    // The same on every rank: totals are.
    variance = uploads.total(parameters, format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
      for (std::size_t p = 0; p < parameters; ++p) partial.add(p, squares_around(next.mean, p, w));
    });
  }
  for (std::size_t p = 0; p < parameters; ++p) next.sd.push_back(sd_of(variance[p], p, format));
  return next;
}

Gaussian Aggregator::w2(const AcceptedUploads& uploads, std::size_t parameters) const {
  // [P] sum alpha r, [P] sum alpha delta
  const auto totals =
      uploads.total(2 * parameters, options_.format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
        for (std::size_t p = 0; p < parameters; ++p) {
          partial.add(p, w.alpha * w.upload.mean[p]);
          partial.add(parameters + p, w.alpha * w.upload.sd[p]);
        }
      });
  Gaussian next;
  next.mean.assign(totals.begin(), totals.begin() + parameters);
  for (std::size_t p = 0; p < parameters; ++p) {
    const double sd = totals[parameters + p];
    next.sd.push_back(sd > 0 ? sd : sd_of(0, p, options_.format));
  }
  return next;
}

Gaussian Aggregator::fedavg(const AcceptedUploads& uploads, std::size_t parameters) const {
  // [P] sum alpha r, [P] sum alpha delta^2
  const auto totals =
      uploads.total(2 * parameters, options_.format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
        for (std::size_t p = 0; p < parameters; ++p) {
          partial.add(p, w.alpha * w.upload.mean[p]);
          partial.add(parameters + p, w.alpha * (w.upload.sd[p] * w.upload.sd[p]));
        }
      });
  Gaussian next;
  next.mean.assign(totals.begin(), totals.begin() + parameters);
  for (std::size_t p = 0; p < parameters; ++p) next.sd.push_back(sd_of(totals[parameters + p], p, options_.format));
  return next;
}

Aggregation Aggregator::aggregate(const Gaussian& theta, std::span<const Upload> uploads) const {
  AcceptedUploads accepted(sums_, uploads, theta.mean.size());
  const bool one_word = options_.rule != Divergence::kMmd && options_.estimator == Estimator::kMean;
  accepted.reject_beyond(one_word ? options_.format : mpi::FixedPoint::two_words(),
                         [&](const Weighted& w) { return largest_term(options_.rule, theta, w); });
  if (accepted.count() > 0) return barycentre(theta, accepted);
  Aggregation nothing;
  nothing.theta = theta;
  nothing.rejected = accepted.rejected();
  nothing.bandwidth = options_.bandwidth;
  return nothing;
}

Aggregation Aggregator::barycentre(const Gaussian& theta, const AcceptedUploads& accepted) const {
  const std::size_t parameters = theta.mean.size();
  assert(theta.sd.size() == parameters);
  Aggregation result;
  result.accepted = accepted.count();
  result.rejected = accepted.rejected();
  result.bandwidth = options_.bandwidth;
  if (options_.estimator != Estimator::kMean) {
    assert(options_.rule != Divergence::kMmd);
    result.theta = robust_barycentre(sums_, accepted, parameters, options_.rule, options_.estimator, options_.trim);
    return result;
  }
  switch (options_.rule) {
    case Divergence::kAuto:
      assert(false);  // config::settle() has said which
      break;
    case Divergence::kKl:
      result.theta = kl(accepted, theta, options_.format);
      break;
    case Divergence::kW2:
      result.theta = w2(accepted, parameters);
      break;
    case Divergence::kFedavg:
      result.theta = fedavg(accepted, parameters);
      break;
    case Divergence::kMmd: {
      const Gaussian start = kl(accepted, theta, mpi::FixedPoint::two_words());
      if (result.bandwidth <= 0) result.bandwidth = median_bandwidth(accepted, start.mean);
      auto barycentre = mmd_barycentre(accepted, start, result.bandwidth);
      result.theta = std::move(barycentre.theta);
      result.mmd_evaluations = barycentre.evaluations;
      result.mmd_unconverged = barycentre.unconverged;
      break;
    }
  }
  return result;
}

}  // namespace fedpp::federation
