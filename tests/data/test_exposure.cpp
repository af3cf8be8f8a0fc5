#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "data/exposure.hpp"
#include "data/intervals.hpp"
#include "data/random.hpp"

using namespace fedpp::data;

namespace {

std::vector<Interval> random_windows(int n, double length, std::uint64_t seed) {
  Random random(seed, Purpose::kFolds, 0);
  std::vector<Interval> windows;
  for (int i = 0; i < n; ++i) {
    const double a = length * random.uniform(), b = length * random.uniform();
    windows.push_back({std::min(a, b), std::max(a, b) + 1e-3});
  }
  return windows;
}

/// int g(t) e(t) dt as the sum over windows of a fine composite Simpson rule.
template <class G>
double brute_integral(const std::vector<Interval>& windows, const G& g, int cells = 4000) {
  double sum = 0;
  for (const Interval& w : windows) {
    const double h = (w.end - w.start) / cells;
    double own = 0;
    for (int i = 0; i <= cells; ++i) own += g(w.start + i * h) * (i == 0 || i == cells ? 1 : (i % 2 ? 4 : 2));
    sum += own * h / 3;
  }
  return sum;
}

template <class G>
double apply(const Quadrature& rule, const G& g) {
  double sum = 0;
  for (std::size_t q = 0; q < rule.nodes.size(); ++q) sum += rule.weights[q] * g(rule.nodes[q]);
  return sum;
}

}  // namespace

TEST(Exposure, CountsCoveringWindows) {
  const auto windows = random_windows(40, 10, 1);
  const StepFunction step = exposure(windows);
  double total = 0;
  for (const Interval& w : windows) total += w.end - w.start;
  EXPECT_NEAR(step.integral(), total, 1e-12 * total);
  for (std::size_t j = 0; j < step.levels.size(); ++j) {
    const double middle = 0.5 * (step.edges[j] + step.edges[j + 1]);
    int count = 0;
    for (const Interval& w : windows) count += w.start <= middle && middle <= w.end;
    EXPECT_EQ(step.levels[j], count);
  }
}

TEST(Exposure, NeighbouringWindowsGiveNoEdge) {
  const StepFunction step = exposure(std::vector<Interval>{{0, 1}, {1, 2}, {3, 4}});
  EXPECT_EQ(step.edges, (std::vector<double>{0, 2, 3, 4}));
  EXPECT_EQ(step.levels, (std::vector<double>{1, 0, 1}));
}

TEST(Exposure, CoverCountsAreClosed) {
  const std::vector<Interval> windows{{0, 1}, {1, 2}, {0.5, 3}};
  const CoverCount count(windows);
  for (const auto& [time, expected] :
       std::vector<std::pair<double, double>>{{-1, 0}, {0, 1}, {0.5, 2}, {1, 3}, {2, 2}, {2.5, 1}, {3, 1}, {3.5, 0}})
    EXPECT_EQ(count.at(time), expected) << time;
}

TEST(GaussLegendre, IntegratesPolynomials) {
  for (int n = 1; n <= 12; ++n) {
    const Quadrature rule = gauss_legendre(n);
    for (int degree = 0; degree < 2 * n; ++degree) {
      const double exact = degree % 2 ? 0.0 : 2.0 / (degree + 1);
      EXPECT_NEAR(apply(rule, [&](double x) { return std::pow(x, degree); }), exact, 1e-14) << n << " " << degree;
    }
  }
}

TEST(GaussOfMeasure, KeepsMomentsAndPositivity) {
  Random random(3, Purpose::kFolds, 0);
  std::vector<double> points, masses;
  for (int i = 0; i < 50; ++i) {
    points.push_back(2 * random.uniform() - 1);
    masses.push_back(random.uniform());
  }
  const Quadrature rule = gauss_of_measure(points, masses, 8);
  for (int degree = 0; degree < 16; ++degree) {
    double exact = 0;
    for (int i = 0; i < 50; ++i) exact += masses[i] * std::pow(points[i], degree);
    EXPECT_NEAR(apply(rule, [&](double x) { return std::pow(x, degree); }), exact, 1e-12);
  }
  for (double w : rule.weights) EXPECT_GT(w, 0);
}

TEST(Quadrature, ReachesTheCountAndTheTotalExposure) {
  for (int count : {1, 5, 8, 9, 50, 200}) {
    const auto windows = random_windows(300, 100, 7);
    const StepFunction step = exposure(windows);
    const Quadrature rule = quadrature(step, count);
    EXPECT_EQ(static_cast<int>(rule.nodes.size()), count);
    EXPECT_TRUE(std::is_sorted(rule.nodes.begin(), rule.nodes.end()));
    EXPECT_NEAR(apply(rule, [](double) { return 1.0; }), step.integral(), 1e-11 * step.integral());
    for (double w : rule.weights) EXPECT_GT(w, 0);
  }
}

// The chosen pooled rule (4 M nodes, M = 50, T = 100) on functions as short as T/50 with exposures that jump 2,000
// times.
TEST(Quadrature, ErrorForBumpsOfLengthscaleTOver50) {
  const auto windows = random_windows(1000, 100, 11);
  const Quadrature rule = quadrature(exposure(windows), 200);
  for (double centre : {3.0, 17.7, 50.0, 71.3, 99.0}) {
    auto bump = [&](double t) { return std::exp(-0.5 * (t - centre) * (t - centre) / 4); };
    double exact = 0;  // closed form, window by window
    for (const Interval& w : windows)
      exact += 2 * std::sqrt(0.5 * std::numbers::pi) *
               (std::erf((w.end - centre) / (2 * std::numbers::sqrt2)) -
                std::erf((w.start - centre) / (2 * std::numbers::sqrt2)));
    EXPECT_NEAR(apply(rule, bump) / exact, 1, 1e-7) << centre;
    auto square = [&](double t) { return bump(t) * bump(t); };
    EXPECT_NEAR(apply(rule, square) / brute_integral(windows, square, 1000), 1, 1e-6) << centre;
  }
}

TEST(Quadrature, GapsAreSkipped) {
  const std::vector<Interval> windows{{0, 10}, {60, 70}, {62, 64}};
  const Quadrature rule = quadrature(exposure(windows), 40);
  for (double node : rule.nodes) EXPECT_TRUE(holds(join(windows), node)) << node;
  auto g = [](double t) { return std::sin(0.3 * t) + 2; };
  EXPECT_NEAR(apply(rule, g), brute_integral(windows, g), 1e-9);
}

// Thousands of gaps: the number of nodes stays bounded, the integral right.
TEST(Quadrature, ManyGapsStayBounded) {
  std::vector<Interval> windows;
  for (int i = 0; i < 5000; ++i) windows.push_back({i * 0.02, i * 0.02 + 0.005});
  const Quadrature rule = quadrature(exposure(windows), 200);
  EXPECT_LE(rule.nodes.size(), 2 * 200u + 16);
  auto g = [](double t) { return std::exp(-0.5 * (t - 40) * (t - 40) / 4); };
  EXPECT_NEAR(apply(rule, g) / brute_integral(windows, g, 2), 1, 1e-6);
}

TEST(Quadrature, NothingObserved) { EXPECT_TRUE(quadrature(exposure(std::vector<Interval>{}), 8).nodes.empty()); }

TEST(Intervals, JoinClipHolds) {
  const auto joined = join({{3, 4}, {0, 1}, {1, 2}, {3.5, 5}});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].end, 2);
  EXPECT_EQ(joined[1].end, 5);
  const auto clipped = clip(joined, 1.5, 3);
  ASSERT_EQ(clipped.size(), 1u);
  EXPECT_EQ(clipped[0].start, 1.5);
  EXPECT_TRUE(holds(joined, 0));
  EXPECT_TRUE(holds(joined, 2));
  EXPECT_FALSE(holds(joined, 2.5));
  EXPECT_TRUE(holds(joined, 5));
  EXPECT_FALSE(holds(joined, -1));
}
