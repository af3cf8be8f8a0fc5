#include "evaluation/next_event.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "data/exposure.hpp"
#include "data/history.hpp"

namespace fedpp::evaluation {
namespace {

constexpr int kNodesACell = 2;
constexpr double kNoSurvivor = 40;  // exp(-40) = 4e-18
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

NextEvent::NextEvent(const GapGrid& grid, std::span<const double> intensity) : grid_(grid), tail_(intensity.back()) {
  assert(intensity.size() == grid.nodes.size());
  cumulative_.push_back(0);
  for (std::size_t c = 0; c + 1 < grid.edges.size(); ++c) {
    const std::size_t j = kNodesACell * c;
    const double mass = grid.weights[j] * intensity[j] + grid.weights[j + 1] * intensity[j + 1];
    const double width = grid.edges[c + 1] - grid.edges[c], steepest = 2 * mass / (width * width);
    const double slope = (intensity[j + 1] - intensity[j]) / (grid.nodes[j + 1] - grid.nodes[j]);
    slope_.push_back(std::clamp(slope, -steepest, steepest));
    start_.push_back(std::max(mass / width - 0.5 * slope_.back() * width, 0.0));
    cumulative_.push_back(cumulative_.back() + mass);
  }
}

double NextEvent::compensator(double gap) const {
  if (gap >= grid_.horizon()) return cumulative_.back() + tail_ * (gap - grid_.horizon());
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
  if (exposure >= cumulative_.back()) {
    const double beyond = exposure - cumulative_.back();
    return grid_.horizon() + (beyond > 0 ? (tail_ > 0 ? beyond / tail_ : kInfinity) : 0.0);
  }
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
  const double left = std::exp(-cumulative_.back());
  return sum + (left > 0 ? (tail_ > 0 ? left / tail_ : kInfinity) : 0.0);
}

}  // namespace fedpp::evaluation
