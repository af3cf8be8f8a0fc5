// Calibration by time rescaling (spec 1.8): under the true intensity the compensator's increments between consecutive
// events are independent and Exp(1).
#pragma once

#include <span>
#include <vector>

#include "data/client_data.hpp"
#include "data/random.hpp"

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
/// uniform, within the span, and the compensator is read at the moved times by linear interpolation between the ones
/// given. Streams without ties are not touched. `random`: of one client, from stream to stream; were it begun anew for
/// each, their increments would not be independent.
std::vector<double> rescaled_increments(const RescalingStream& stream, data::Random& random);

/// Kolmogorov-Smirnov distance sup_x |F_n(x) - (1 - exp(-x))|. NaN without increments; under the true model it stays
/// below 1.358 / sqrt(n) in 95 % of cases for large n.
double ks_distance_from_exponential(std::vector<double> increments);

}  // namespace fedpp::evaluation
