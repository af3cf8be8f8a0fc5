#include "evaluation/next_event.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "data/exposure.hpp"
#include "data/history.hpp"

namespace fedpp::evaluation {
namespace {

constexpr int kNodesACell = 2;
constexpr double kNoSurvivor = 40;  // exp(-40) = 4e-18
constexpr int kMostSteps = 200;     // of Newton, who needs about ten
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

GapGrid gap_grid(double floor, double horizon, int cells) {
  assert(floor > 0 && horizon > 0 && cells > 0);
  GapGrid grid;
  const double range = std::log1p(horizon / floor);
  for (int c = 0; c <= cells; ++c) grid.edges.push_back(floor * std::expm1(range * c / cells));
  grid.edges.back() = horizon;
  for (int c = 0; c < cells; ++c)
    data::append_interval(0, grid.edges[c], grid.edges[c + 1], floor, kNodesACell, data::cached_gauss_legendre,
                          grid.nodes, grid.weights);
  assert(grid.nodes.size() == static_cast<std::size_t>(kNodesACell * cells));
  return grid;
}

namespace {

/// A cell's intensity: the line from its start.
struct Line {
  double start, slope, mass;
};

/// With this integral and, where it stays above zero, this slope.
Line line_of(double mass, double slope, double width) {
  const double steepest = 2 * mass / (width * width);
  slope = std::clamp(slope, -steepest, steepest);
  return {std::max(mass / width - 0.5 * slope * width, 0.0), slope, mass};
}

/// The means over the survivors of a mixture's draws, which have exp(-Lambda) each.
class Survivors {
 public:
  explicit Survivors(const std::vector<double>& exposures) : least_(*std::ranges::min_element(exposures)) {
    for (const double exposure : exposures) share_.push_back(std::exp(least_ - exposure));
    total_ = std::accumulate(share_.begin(), share_.end(), 0.0);
  }

  /// -log of the mean of exp(-Lambda).
  double exposure() const { return least_ - std::log(total_ / static_cast<double>(share_.size())); }

  template <class F>
  double mean(const F& of_draw) const {
    double sum = 0;
    for (std::size_t d = 0; d < share_.size(); ++d)
      if (share_[d] > 0) sum += share_[d] * of_draw(d);
    return sum / total_;
  }

 private:
  double least_;  // keeps the largest share at one
  std::vector<double> share_;
  double total_ = 0;
};

}  // namespace

NextEvent::NextEvent(const GapGrid& grid, std::span<const double> intensity, int draws) : grid_(grid) {
  assert(draws > 0 && intensity.size() == grid.nodes.size() * draws);
  const auto n = static_cast<std::size_t>(draws);
  std::vector<double> exposures(n, 0.0);  // of each draw up to the cell's end
  std::vector<Line> lines(n);
  std::optional<Survivors> at_start(exposures);
  cumulative_.push_back(0);
  for (std::size_t c = 0; c + 1 < grid.edges.size(); ++c) {
    const std::size_t j = kNodesACell * c;
    const double width = grid.edges[c + 1] - grid.edges[c];
    for (std::size_t d = 0; d < n; ++d) {
      const double left = intensity[j * n + d], right = intensity[(j + 1) * n + d];
      lines[d] = line_of(grid.weights[j] * left + grid.weights[j + 1] * right,
                         (right - left) / (grid.nodes[j + 1] - grid.nodes[j]), width);
      exposures[d] += lines[d].mass;
    }
    const Survivors at_end(exposures);
    const double first = at_start->mean([&](std::size_t d) { return lines[d].start; });
    const double last = at_end.mean([&](std::size_t d) { return lines[d].start + lines[d].slope * width; });
    const double exposure = std::max(at_end.exposure(), cumulative_.back());
    const Line line = line_of(exposure - cumulative_.back(), (last - first) / width, width);
    start_.push_back(line.start);
    slope_.push_back(line.slope);
    cumulative_.push_back(exposure);
    at_start = at_end;
  }
  tail_ = Tail(std::move(exposures), {intensity.end() - n, intensity.end()});
}

NextEvent::Tail::Tail(std::vector<double> exposures, std::vector<double> rates)
    : exposures_(std::move(exposures)), rates_(std::move(rates)) {}

std::vector<double> NextEvent::Tail::exposures_at(double x) const {
  std::vector<double> exposures = exposures_;
  for (std::size_t d = 0; d < exposures.size(); ++d) exposures[d] += rates_[d] * x;
  return exposures;
}

double NextEvent::Tail::compensator(double x) const { return Survivors(exposures_at(x)).exposure(); }

double NextEvent::Tail::time_to(double exposure) const {
  // Survivors are ever more those of slow draws, so Lambda is concave: Newton's steps stay before the root.
  double x = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    const Survivors survivors(exposures_at(x));
    const double missing = exposure - survivors.exposure();
    const double hazard = survivors.mean([&](std::size_t d) { return rates_[d]; });
    if (!(missing > 1e-13 * exposure)) break;
    if (!(hazard > 0)) return kInfinity;
    x += missing / hazard;
  }
  return x;
}

double NextEvent::Tail::mass() const {
  const Survivors survivors(exposures_);
  const double left = std::exp(-survivors.exposure());
  return left > 0 ? left * survivors.mean([&](std::size_t d) { return 1 / rates_[d]; }) : 0.0;
}

double NextEvent::compensator(double gap) const {
  if (gap >= grid_.horizon()) return std::max(tail_.compensator(gap - grid_.horizon()), cumulative_.back());
  gap = std::max(gap, 0.0);
  const auto above = std::upper_bound(grid_.edges.begin(), grid_.edges.end(), gap);
  const auto c = static_cast<std::size_t>(above - grid_.edges.begin() - 1);
  return cumulative_[c] + within(c, gap - grid_.edges[c]);
}

double NextEvent::survival(double gap) const { return std::exp(-compensator(gap)); }

double NextEvent::inverse(std::size_t c, double exposure) const {
  if (!(exposure > 0)) return 0;
  const double root = std::sqrt(std::max(start_[c] * start_[c] + 2 * slope_[c] * exposure, 0.0));
  return std::min(2 * exposure / (start_[c] + root), grid_.edges[c + 1] - grid_.edges[c]);
}

double NextEvent::gap_at(double exposure) const {
  if (exposure >= cumulative_.back()) return grid_.horizon() + tail_.time_to(exposure);
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end(), exposure);
  const auto c = static_cast<std::size_t>(above - cumulative_.begin() - 1);
  return grid_.edges[c] + inverse(c, exposure - cumulative_[c]);
}

double NextEvent::quantile(double q) const { return gap_at(-std::log1p(-q)); }

double NextEvent::expectation() const {
  const data::Quadrature& rule = data::cached_gauss_legendre(4);
  double sum = 0;
  for (std::size_t c = 0; c + 1 < cumulative_.size(); ++c) {
    const double width = grid_.edges[c + 1] - grid_.edges[c], mass = cumulative_[c + 1] - cumulative_[c];
    // About one unit of exposure a piece, and nothing more once no survivor is left.
    const int pieces = 1 + static_cast<int>(std::min(mass, kNoSurvivor));
    double part = 0;
    for (int piece = 0; piece < pieces; ++piece)
      for (std::size_t k = 0; k < rule.nodes.size(); ++k)
        part += rule.weights[k] * std::exp(-within(c, width * (piece + 0.5 * (1 + rule.nodes[k])) / pieces));
    sum += std::exp(-cumulative_[c]) * part * 0.5 * width / pieces;
  }
  return sum + tail_.mass();
}

}  // namespace fedpp::evaluation
