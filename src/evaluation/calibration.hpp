// Calibration by time rescaling (theory 1.8): under the true intensity the compensator's increments between consecutive
// events are independent and Exp(1). Where windows begin and end at times that the events have no say in, that is so
// across them, too: what is left of one and the beginning of the next are one increment, as an exponential variable has
// no memory. What a client's last window cuts off goes on by an exponential draw. Increments up to the first one that
// passes the end are a stopped sequence, so that in the mean they are distributed as they should (Wald's identity);
// without that one, the longest in the mean, those of many clients together would be too short.
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

/// Where windows end.
enum class WindowEnds {
  kByTime,   ///< wherever the events are: increments go on from one window to the next, and beyond the last
  kByEvents  ///< by counting events: a window may begin half-way between two. Increments are those between two of its
             ///< events, one less than there are
};

/// The compensator's increments between a client's events, stream by stream, multiplicities counted.
///
/// Ties. Equal times come of rounding, and zero increments of a continuous model would say nothing but that. A stream
/// with a tie is therefore de-rounded: its resolution d is the smallest gap between distinct times (times that only the
/// last bits tell apart are equal), every event (tied or not) is moved by d (u - 1/2) with u uniform, within the span,
/// and the compensator is read at the moved times by linear interpolation between the ones given. Streams without ties
/// are not touched.
class RescaledIncrements {
 public:
  /// `random`: of one client; were it begun anew for each stream, their increments would not be independent.
  RescaledIncrements(data::Random& random, WindowEnds ends) : random_(random), ends_(ends) {}
  void add(const RescalingStream& stream);
  /// The client's last window has ended.
  void finish();
  const std::vector<double>& all() const { return all_; }

 private:
  void event_after(double exposure);   ///< compensator since the last event or the window's beginning
  void window_after(double exposure);  ///< its end, so long after that

  data::Random& random_;
  WindowEnds ends_;
  std::vector<double> all_;
  bool within_ = false;         ///< an event of the present stream has come
  double since_event_ = 0;      ///< compensator since the last event, in earlier streams
  bool ends_at_event_ = false;  ///< the last stream: then nothing is cut off, though de-rounding may leave something
};

/// Kolmogorov-Smirnov distance sup_x |F_n(x) - (1 - exp(-x))|. NaN without increments; under the true model it stays
/// below 1.358 / sqrt(n) in 95 % of cases for large n.
double ks_distance_from_exponential(std::vector<double> increments);

}  // namespace fedpp::evaluation
