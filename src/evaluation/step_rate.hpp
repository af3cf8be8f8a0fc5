// Piecewise constant intensities on equal bins: the homogeneous rate (one bin) and the histograms of theory 3.3.
#pragma once

#include <vector>

#include "data/client_data.hpp"

namespace fedpp::evaluation {

/// Events and exposure of a set of sequences in B equal bins.
struct BinnedEvents {
  std::vector<double> counts;    ///< [B] events
  std::vector<double> exposure;  ///< [B] observed time, summed over the sequences
};

/// B equal bins over a range, to which every time is clipped.
class Bins {
 public:
  /// Needs range.start < range.end and count >= 1.
  Bins(data::Interval range, int count);
  int count() const { return count_; }
  double edge(int b) const;  ///< b = 0..count
  int bin(double t) const;
  /// Adds one sequence's events and windows, its times shifted back by `origin`.
  void add(const std::vector<double>& events, const std::vector<data::Interval>& windows, double origin,
           BinnedEvents& into) const;

 private:
  data::Interval range_;
  int count_;
  double width_;
};

/// A rate that is constant in each bin, per unit of time and sequence.
struct StepRate {
  Bins bins;
  std::vector<double> rate;      ///< [B] positive
  std::vector<double> exposure;  ///< [B] what was seen of each bin; where nothing, the rate is that of all bins
};

/// rate_b = max(counts_b, 1/2) / exposure_b: for sequences that are all observed on one common window (population,
/// published-code). Where windows of the user's own leave a bin without exposure it takes the rate of all bins
/// together.
StepRate floored_rate(const Bins& bins, const BinnedEvents& seen);

/// rate_b = (counts_b + 1) / (exposure_b + 1/h), h the floored homogeneous rate of all bins: one event's worth of the
/// homogeneous rate, for the elapsed clock, where exposure thins out and bins beyond every training window have none.
StepRate shrunken_rate(const Bins& bins, const BinnedEvents& seen);

}  // namespace fedpp::evaluation
