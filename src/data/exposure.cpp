#include "data/exposure.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace fedpp::data {
namespace {

constexpr int kNodesPerCell = 8;

/// Eigenvalues of the symmetric tridiagonal matrix (diagonal, off-diagonal) and the first components of its
/// eigenvectors, by Jacobi rotations: n is small here, and they give every digit.
void tridiagonal_eigen(std::span<const double> diagonal, std::span<const double> off, std::vector<double>& values,
                       std::vector<double>& first) {
  const int n = static_cast<int>(diagonal.size());
  std::vector<double> a(n * n, 0.0);
  first.assign(n, 0.0);
  first[0] = 1;
  for (int i = 0; i < n; ++i) a[i * n + i] = diagonal[i];
  for (int i = 0; i + 1 < n; ++i) a[i * n + i + 1] = a[(i + 1) * n + i] = off[i];
  for (int sweep = 0; sweep < 60; ++sweep) {
    double rest = 0, size = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) (i == j ? size : rest) += a[i * n + j] * a[i * n + j];
    if (rest <= 1e-34 * (size + rest)) break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        if (apq == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int i = 0; i < n; ++i) {
          const double x = a[i * n + p], y = a[i * n + q];
          a[i * n + p] = c * x - s * y;
          a[i * n + q] = s * x + c * y;
        }
        for (int i = 0; i < n; ++i) {
          const double x = a[p * n + i], y = a[q * n + i];
          a[p * n + i] = c * x - s * y;
          a[q * n + i] = s * x + c * y;
        }
        const double x = first[p], y = first[q];
        first[p] = c * x - s * y;
        first[q] = s * x + c * y;
      }
  }
  values.resize(n);
  for (int i = 0; i < n; ++i) values[i] = a[i * n + i];
}

/// Golub and Welsch: nodes are the eigenvalues, weights the mass times the squared first components.
Quadrature rule_of_recurrence(std::span<const double> alpha, std::span<const double> beta, double mass) {
  std::vector<double> off(beta.size()), values, first;
  for (std::size_t i = 0; i < beta.size(); ++i) off[i] = std::sqrt(beta[i]);
  tridiagonal_eigen(alpha, off, values, first);
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t i = 0; i < values.size(); ++i) pairs.emplace_back(values[i], mass * first[i] * first[i]);
  std::sort(pairs.begin(), pairs.end());
  Quadrature rule;
  for (auto [node, weight] : pairs) {
    rule.nodes.push_back(node);
    rule.weights.push_back(weight);
  }
  return rule;
}

/// Appends the rule of [-1,1] stretched to [a,b], weights times `level`.
void append(Quadrature& all, const Quadrature& rule, double a, double b, double level) {
  const double half = 0.5 * (b - a), centre = 0.5 * (a + b);
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    all.nodes.push_back(std::clamp(centre + half * rule.nodes[i], a, b));
    all.weights.push_back(half * level * rule.weights[i]);
  }
}

/// The rule of one cell [a,b]; `piece` is the first piece of the weight that ends after a.
void append_cell(Quadrature& all, const StepFunction& weight, std::size_t& piece, double a, double b, int n) {
  const auto& edges = weight.edges;
  while (piece + 1 < weight.levels.size() && edges[piece + 1] <= a) ++piece;
  if (edges[piece] <= a && b <= edges[piece + 1]) {
    if (weight.levels[piece] > 0) append(all, cached_gauss_legendre(n), a, b, weight.levels[piece]);
    return;
  }
  // The weight on the cell as a discrete measure, in coordinates [-1,1] of the cell, right for polynomials up to 2n-1.
  const Quadrature& legendre = cached_gauss_legendre(n);
  std::vector<double> points, masses;
  const double half = 0.5 * (b - a), centre = 0.5 * (a + b);
  for (std::size_t j = piece; j < weight.levels.size() && edges[j] < b; ++j) {
    const double left = (std::max(a, edges[j]) - centre) / half, right = (std::min(b, edges[j + 1]) - centre) / half;
    if (weight.levels[j] <= 0 || right <= left) continue;
    for (int i = 0; i < n; ++i) {
      points.push_back(0.5 * (left + right) + 0.5 * (right - left) * legendre.nodes[i]);
      masses.push_back(0.5 * (right - left) * weight.levels[j] * legendre.weights[i]);
    }
  }
  if (!points.empty()) append(all, gauss_of_measure(points, masses, n), a, b, 1.0);
}

}  // namespace

double StepFunction::integral() const {
  double sum = 0;
  for (std::size_t j = 0; j < levels.size(); ++j) sum += levels[j] * (edges[j + 1] - edges[j]);
  return sum;
}

StepFunction exposure(std::span<const Interval> windows) {
  std::vector<std::pair<double, int>> jumps;
  jumps.reserve(2 * windows.size());
  for (const Interval& window : windows) {
    jumps.emplace_back(window.start, 1);
    jumps.emplace_back(window.end, -1);
  }
  std::sort(jumps.begin(), jumps.end());
  StepFunction step;
  int level = 0;
  for (std::size_t i = 0; i < jumps.size();) {
    const double time = jumps[i].first;
    int change = 0;
    for (; i < jumps.size() && jumps[i].first == time; ++i) change += jumps[i].second;
    if (change == 0) continue;
    level += change;
    step.edges.push_back(time);
    if (i < jumps.size()) step.levels.push_back(level);
  }
  return step;
}

CoverCount::CoverCount(std::span<const Interval> windows) {
  for (const Interval& window : windows) {
    starts_.push_back(window.start);
    ends_.push_back(window.end);
  }
  std::sort(starts_.begin(), starts_.end());
  std::sort(ends_.begin(), ends_.end());
}

double CoverCount::at(double t) const {
  const auto begun = std::upper_bound(starts_.begin(), starts_.end(), t) - starts_.begin();
  const auto over = std::lower_bound(ends_.begin(), ends_.end(), t) - ends_.begin();
  return static_cast<double>(begun - over);
}

Quadrature gauss_legendre(int n) {
  assert(n >= 1);
  std::vector<double> alpha(n, 0.0), beta;
  for (int k = 1; k < n; ++k) beta.push_back(k * k / (4.0 * k * k - 1));
  Quadrature rule = rule_of_recurrence(alpha, beta, 2.0);
  // Symmetric to the last bit.
  for (int i = 0; i < n / 2; ++i) {
    const double node = 0.5 * (rule.nodes[n - 1 - i] - rule.nodes[i]);
    const double weight = 0.5 * (rule.weights[i] + rule.weights[n - 1 - i]);
    rule.nodes[i] = -node;
    rule.nodes[n - 1 - i] = node;
    rule.weights[i] = rule.weights[n - 1 - i] = weight;
  }
  if (n % 2) rule.nodes[n / 2] = 0;
  return rule;
}

const Quadrature& cached_gauss_legendre(int n) {
  thread_local std::map<int, Quadrature> rules;
  auto [found, added] = rules.try_emplace(n);
  if (added) found->second = gauss_legendre(n);
  return found->second;
}

const Quadrature& cached_gauss_radau(int n) {
  thread_local std::map<int, Quadrature> rules;
  auto [found, added] = rules.try_emplace(n);
  if (!added) return found->second;
  // Golub (1973): the last coefficient of the Legendre recurrence is chosen so that 1 is a node.
  std::vector<double> alpha(n, 0.0), beta;
  double before = 0, value = 1;  // monic Legendre polynomials of degree k - 1 and k at 1
  for (int k = 1; k < n; ++k) {
    beta.push_back(k * k / (4.0 * k * k - 1));
    const double next = value - (k > 1 ? beta[k - 2] : 0.0) * before;
    before = value;
    value = next;
  }
  alpha[n - 1] = 1 - (n > 1 ? beta[n - 2] * before / value : 0.0);
  found->second = rule_of_recurrence(alpha, beta, 2.0);
  found->second.nodes.back() = 1;
  return found->second;
}

Quadrature gauss_of_measure(std::span<const double> points, std::span<const double> masses, int n) {
  assert(points.size() == masses.size() && static_cast<int>(points.size()) >= n && n >= 1);
  // Stieltjes: the three-term recurrence of the polynomials orthogonal under the measure.
  const std::size_t count = points.size();
  std::vector<double> previous(count, 0.0), current(count, 1.0), alpha, beta;
  double mass = 0, norm = 0, last_norm = 0;
  for (int k = 0; k < n; ++k) {
    double moment = 0;
    norm = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double square = masses[i] * current[i] * current[i];
      norm += square;
      moment += square * points[i];
    }
    if (k == 0) mass = norm;
    alpha.push_back(moment / norm);
    if (k > 0) beta.push_back(norm / last_norm);
    const double b = k > 0 ? beta.back() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double next = (points[i] - alpha.back()) * current[i] - b * previous[i];
      previous[i] = current[i];
      current[i] = next;
    }
    last_norm = norm;
  }
  return rule_of_recurrence(alpha, beta, mass);
}

Quadrature quadrature(const StepFunction& weight, std::int64_t count) {
  assert(count >= 1);
  Quadrature all;
  double covered = 0;
  for (std::size_t j = 0; j < weight.levels.size(); ++j)
    if (weight.levels[j] > 0) covered += weight.edges[j + 1] - weight.edges[j];
  if (covered <= 0) return all;
  const std::int64_t wanted = (count + kNodesPerCell - 1) / kNodesPerCell;
  const double length = covered / static_cast<double>(wanted);

  std::vector<Interval> stretches;
  for (std::size_t j = 0; j < weight.levels.size(); ++j) {
    if (weight.levels[j] <= 0) continue;
    if (!stretches.empty() && weight.edges[j] - stretches.back().end <= length)
      stretches.back().end = weight.edges[j + 1];
    else
      stretches.push_back({weight.edges[j], weight.edges[j + 1]});
  }
  std::size_t piece = 0;
  for (const Interval& stretch : stretches) {
    std::int64_t cells = wanted;
    if (stretches.size() > 1)
      cells = std::max<std::int64_t>(1, std::llround(std::ceil((stretch.end - stretch.start) / length - 1e-9)));
    double left = stretch.start;
    for (std::int64_t c = 0; c < cells; ++c) {
      const double share = static_cast<double>(c + 1) / static_cast<double>(cells);
      const double right = c + 1 == cells ? stretch.end : stretch.start + (stretch.end - stretch.start) * share;
      int n = static_cast<int>(std::min<std::int64_t>(kNodesPerCell, count));
      if (stretches.size() == 1) n = static_cast<int>(count / cells + (c < count % cells ? 1 : 0));
      append_cell(all, weight, piece, left, right, n);
      left = right;
    }
  }
  return all;
}

}  // namespace fedpp::data
