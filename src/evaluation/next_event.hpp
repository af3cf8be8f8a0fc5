// The time of the next event from the intensity that follows a history: survival S(g) = exp(-int_0^g lambda) of the gap
// g, its expectation int_0^inf S and its quantiles. The model is unmarked: it says when, not which type.
#pragma once

#include <span>
#include <vector>

namespace fedpp::evaluation {

/// Where the intensity is asked for: cells of equal width in log(g + floor), two Gauss-Legendre nodes each
/// (data::append_interval), so that short and long gaps are resolved alike.
struct GapGrid {
  std::vector<double> edges;           ///< [C + 1] 0 = g_0 < ... < g_C = horizon
  std::vector<double> nodes, weights;  ///< [2 C] increasing, none at an edge; a cell's weights add up to its width
  double horizon() const { return edges.back(); }
};

/// \param floor > 0, the gap below which none are told apart \param horizon > 0, any unit of time, the same for both
GapGrid gap_grid(double floor, double horizon, int cells);

/// The grid used for scores and predictions. A cell is 0.4 in the logarithm where the horizon is a million floors.
inline constexpr int kGapCells = 32;

/// The gap's distribution. In a cell the intensity is the line through its two nodes with the cell's integral (as steep
/// as it can be without falling below zero); beyond the horizon the last node's intensity holds on. Of several draws of
/// an unknown intensity it is the mixture of theirs, S(g) = mean exp(-Lambda_draw(g)), whose hazard is the mean over the
/// draws' survivors: exact at the cells' edges and beyond the horizon, and in a cell the line between those hazards with
/// the cell's integral.
class NextEvent {
 public:
  /// \param intensity [2 C][draws] lambda >= 0 at the grid's nodes. The grid must outlive this.
  NextEvent(const GapGrid& grid, std::span<const double> intensity, int draws = 1);

  double compensator(double gap) const;  ///< Lambda(g) = int_0^g lambda
  double survival(double gap) const;     ///< P(no event within g)
  /// The gap at which Lambda reaches `exposure`: with an Exp(1) number a draw from the distribution. Infinite where the
  /// intensity beyond the horizon is zero.
  double gap_at(double exposure) const;
  double quantile(double q) const;  ///< q in [0, 1)
  double expectation() const;       ///< infinite where the intensity beyond the horizon is zero

 private:
  /// Lambda within cell c, x from its start, and its inverse.
  double within(std::size_t c, double x) const { return (start_[c] + 0.5 * slope_[c] * x) * x; }
  double inverse(std::size_t c, double exposure) const;

  /// Beyond the horizon: the mixture of exponential distributions that survivors have.
  class Tail {
   public:
    Tail() = default;
    Tail(std::vector<double> exposures, std::vector<double> rates);
    double compensator(double x) const;     ///< Lambda(horizon + x)
    double time_to(double exposure) const;  ///< its inverse
    double mass() const;                    ///< int_horizon^inf S

   private:
    std::vector<double> exposures_at(double x) const;

    std::vector<double> exposures_, rates_;  ///< [draws] Lambda(horizon), the last intensity
  };

  const GapGrid& grid_;
  std::vector<double> start_, slope_;  ///< [C] the line of each cell
  std::vector<double> cumulative_;     ///< [C + 1] Lambda at the edges
  Tail tail_;
};

}  // namespace fedpp::evaluation
