// Calibration by time rescaling (spec 1.8): under the true intensity the compensator's increments between consecutive
// events are independent and Exp(1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/client_data.hpp"

namespace fedpp::evaluation {

/// One scored stream: a sequence, or a client's superposed sequences (pooled; the integrals then contain the exposure).
struct RescalingStream {
  std::span<const double> times;           ///< [n] distinct test events, increasing
  std::span<const double> multiplicities;  ///< [n] how many events stand at each
  /// [n + 1] int lambda over [span.start, t_1], [t_1, t_2], ..., [t_n, span.end]; 0 where nothing is observed
  std::span<const double> cells;
  data::Interval span;  ///< hull of its test windows; contains the times
};

/// The compensator's increments between consecutive test events of a stream with N events (multiplicities counted): N -
/// 1 numbers, the censored ends of the window not among them; none for N < 2. Ties. Equal times come of rounding, and
/// zero increments of a continuous model would say nothing but that. A stream with a tie is therefore de-rounded: its
/// resolution d is the smallest gap between distinct times, every event (tied or not) is moved by d (u - 1/2) with u
/// uniform and keyed by (seed, event), within the span, and the compensator is read at the moved times by linear
/// interpolation between the ones given. Streams without ties are not touched.
std::vector<double> rescaled_increments(const RescalingStream& stream, std::uint64_t seed);

/// Kolmogorov-Smirnov distance sup_x |F_n(x) - (1 - exp(-x))|. NaN without increments; under the true model it stays
/// below 1.358 / sqrt(n) in 95 % of cases for large n.
double ks_distance_from_exponential(std::vector<double> increments);

/// Empirical against Exp(1) quantiles at the probabilities (i - 1/2) / n, i = 1..n, thinned to at most `most` equally
/// spaced ranks that include the smallest and the largest.
struct QuantilePairs {
  std::vector<double> observed, expected;
};
QuantilePairs exponential_quantiles(std::vector<double> increments, std::size_t most = 400);

}  // namespace fedpp::evaluation
