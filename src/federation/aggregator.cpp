#include "federation/aggregator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "federation/barycentre_rules.hpp"
#include "federation/mmd_barycentre.hpp"

namespace fedpp::federation {

namespace {

using Weighted = AcceptedUploads::Weighted;
constexpr std::string_view kTraffic = "reduce uploads";
/// Of the sums' resolution, for a spread: the rounding of 20 uploads then moves kl's sd by less than 0.5 %.
constexpr double kLeastResolved = 1024;

/// The largest term of an upload in the sums of its rule. Robust estimators do not weigh; the point that their spreads
/// are around is not known yet, but no further from zero than the largest mean: where every upload's 2 (delta^2 + 4 r^2)
/// fits, so does every delta^2 + (r - mu)^2.
double largest_term(const AggregatorOptions& options, const Gaussian& theta, const Weighted& w) {
  const bool weighs = options.estimator == Estimator::kMean;
  double largest = 0;
  for (std::size_t p = 0; p < theta.mean.size(); ++p) {
    const double r = w.upload.mean[p], delta = w.upload.sd[p];
    const double spread =
        weighs ? spread_of(options.rule, r, delta, theta.mean[p]) : 2 * spread_of(options.rule, 2 * r, delta, 0);
    largest = std::max({largest, std::fabs(r), spread});
  }
  return weighs ? w.alpha * largest : largest;
}

}  // namespace

Gaussian Aggregator::closed_form(Divergence rule, const AcceptedUploads& uploads, const Gaussian& theta,
                                 mpi::FixedPoint format) const {
  const std::size_t parameters = theta.mean.size();
  const auto spread_around = [&](const std::vector<double>& centre, std::size_t p, const Weighted& w) {
    return w.alpha * spread_of(rule, w.upload.mean[p], w.upload.sd[p], centre[p]);
  };
  // [P] sum alpha r, [P] sum alpha spread: around a common point, since raw second moments cancel.
  const auto totals = uploads.total(2 * parameters, format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
    for (std::size_t p = 0; p < parameters; ++p) {
      partial.add(p, w.alpha * w.upload.mean[p]);
      partial.add(parameters + p, spread_around(theta.mean, p, w));
    }
  });
  Gaussian next;
  next.mean.assign(totals.begin(), totals.begin() + parameters);
  std::vector<double> spread(totals.begin() + parameters, totals.end());
  if (is_centred(rule)) {
    bool cancels = false;
    for (std::size_t p = 0; p < parameters; ++p) cancels |= recentre(spread[p], next.mean[p] - theta.mean[p], 1e-3);
    if (cancels) {
      // The same on every rank: totals are.
      spread = uploads.total(parameters, format, kTraffic, [&](const Weighted& w, mpi::ExactSums& partial) {
        for (std::size_t p = 0; p < parameters; ++p) partial.add(p, spread_around(next.mean, p, w));
      });
    }
  }
  for (std::size_t p = 0; p < parameters; ++p) {
    // Every upload's part was rounded, by up to half the resolution. On every rank alike.
    if (!(spread[p] > std::ldexp(kLeastResolved, -format.fraction_bits)))
      throw mpi::AgreedError(
          fmt::format("aggregation: the spread {:.3g} of weight {} is too near the resolution 2^-{} of the sums: {}",
                      spread[p], p, format.fraction_bits,
                      format.words == 1 ? "choose more aggregation.fraction_bits"
                                        : "a larger training.prior_weight keeps posteriors from losing their spread"),
          /*origin=*/0, mpi::ErrorKind::kMistake);
    next.sd.push_back(sd_of(rule, spread[p]));
  }
  return next;
}

Aggregation Aggregator::aggregate(const Gaussian& theta, std::span<const Upload> uploads) const {
  AcceptedUploads accepted(comm_, uploads, theta.mean.size());
  const bool one_word = options_.rule != Divergence::kMmd && options_.estimator == Estimator::kMean;
  accepted.reject_beyond(one_word ? options_.format : mpi::FixedPoint::two_words(),
                         [&](const Weighted& w) { return largest_term(options_, theta, w); });
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
  assert(options_.rule != Divergence::kAuto);  // config::settle() has said which
  Aggregation result;
  result.accepted = accepted.count();
  result.rejected = accepted.rejected();
  result.bandwidth = options_.bandwidth;
  if (options_.estimator != Estimator::kMean) {
    assert(options_.rule != Divergence::kMmd);
    result.theta = robust_barycentre(comm_, accepted, parameters, options_.rule, options_.estimator, options_.trim);
    return result;
  }
  if (options_.rule != Divergence::kMmd) {
    result.theta = closed_form(options_.rule, accepted, theta, options_.format);
    return result;
  }
  const Gaussian start = closed_form(Divergence::kKl, accepted, theta, mpi::FixedPoint::two_words());
  if (result.bandwidth <= 0) result.bandwidth = median_bandwidth(accepted, start.mean);
  auto barycentre = mmd_barycentre(accepted, start, result.bandwidth);
  result.theta = std::move(barycentre.theta);
  result.mmd_unconverged = barycentre.unconverged;
  return result;
}

}  // namespace fedpp::federation
