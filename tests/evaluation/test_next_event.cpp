// The next event's time against closed forms and brute-force thinning.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "evaluation/next_event.hpp"

namespace {

using namespace fedpp::evaluation;

using Intensity = std::function<double(double)>;

std::vector<double> at_nodes(const GapGrid& grid, const Intensity& intensity) {
  std::vector<double> values;
  for (const double gap : grid.nodes) values.push_back(intensity(gap));
  return values;
}

TEST(GapGrid, covers_the_horizon_in_cells_of_equal_logarithmic_width) {
  const double floor = 1e-3, horizon = 50;
  const auto grid = gap_grid(floor, horizon, 10);
  ASSERT_EQ(grid.edges.size(), 11u);
  EXPECT_EQ(grid.edges.front(), 0);
  EXPECT_EQ(grid.edges.back(), horizon);
  const double width = std::log((horizon + floor) / floor) / 10;
  for (int c = 0; c < 10; ++c) {
    EXPECT_NEAR(std::log((grid.edges[c + 1] + floor) / (grid.edges[c] + floor)), width, 1e-12);
    EXPECT_NEAR(grid.weights[2 * c] + grid.weights[2 * c + 1], grid.edges[c + 1] - grid.edges[c], 1e-12);
    EXPECT_LT(grid.edges[c], grid.nodes[2 * c]);
    EXPECT_LT(grid.nodes[2 * c], grid.nodes[2 * c + 1]);
    EXPECT_LT(grid.nodes[2 * c + 1], grid.edges[c + 1]);
  }
}

TEST(NextEvent, of_a_constant_rate_is_exponential_within_and_beyond_the_horizon) {
  for (const double horizon : {0.2, 30.0}) {
    const auto grid = gap_grid(1e-2, horizon, 8);
    const double rate = 0.7;
    const auto values = at_nodes(grid, [&](double) { return rate; });
    const NextEvent next(grid, values);
    EXPECT_NEAR(next.expectation(), 1 / rate, 1e-9);
    for (const double q : {0.0, 0.05, 0.5, 0.95, 0.999}) EXPECT_NEAR(next.quantile(q), -std::log1p(-q) / rate, 1e-11);
    for (const double gap : {0.0, 0.1, 3.0, 40.0}) EXPECT_NEAR(next.survival(gap), std::exp(-rate * gap), 1e-12);
  }
}

TEST(NextEvent, of_a_step_at_an_edge_is_exact) {
  const auto grid = gap_grid(1e-2, 20, 16);
  const double change = grid.edges[9], low = 0.3, high = 2;
  const auto values = at_nodes(grid, [&](double g) { return g < change ? low : high; });
  const NextEvent next(grid, values);
  EXPECT_NEAR(next.expectation(), -std::expm1(-low * change) / low + std::exp(-low * change) / high, 1e-9);
  const double q = 0.9, exposure = -std::log(1 - q);
  EXPECT_NEAR(next.quantile(q), change + (exposure - low * change) / high, 1e-12);
}

TEST(NextEvent, of_weibull_gaps_is_near_the_closed_form_on_the_grid_that_scores_use) {
  for (const double shape : {0.6, 1.5, 3.0}) {  // falling and rising intensities shape g^(shape-1)
    const auto grid = gap_grid(1e-4, 60, kGapCells);
    const auto values = at_nodes(grid, [&](double g) { return shape * std::pow(g, shape - 1); });
    const NextEvent next(grid, values);
    const double mean = std::tgamma(1 + 1 / shape);
    EXPECT_NEAR(next.expectation() / mean, 1, 0.002) << shape;
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      const double exact = std::pow(-std::log(1 - q), 1 / shape);
      EXPECT_NEAR(next.quantile(q) / exact, 1, 0.01) << shape << ' ' << q;
    }
  }
}

TEST(NextEvent, converges_in_the_fourth_power_of_the_cells_width) {
  const double shape = 1.5, mean = std::tgamma(1 + 1 / shape);
  std::vector<double> errors;
  for (const int cells : {20, 40, 80}) {
    const auto grid = gap_grid(1e-3, 60, cells);
    const auto values = at_nodes(grid, [&](double g) { return shape * std::pow(g, shape - 1); });
    errors.push_back(std::abs(NextEvent(grid, values).expectation() - mean));
  }
  EXPECT_NEAR(errors[0] / errors[1], 16, 3);
  EXPECT_NEAR(errors[1] / errors[2], 16, 3);
}

/// Gaps of an intensity of time by thinning.
std::vector<double> thinned(const Intensity& intensity, double bound, int draws) {
  std::mt19937_64 engine(3);
  std::exponential_distribution<double> exponential(bound);
  std::uniform_real_distribution<double> uniform(0, bound);
  std::vector<double> gaps;
  while (static_cast<int>(gaps.size()) < draws) {
    double t = exponential(engine);
    while (uniform(engine) >= intensity(t)) t += exponential(engine);
    gaps.push_back(t);
  }
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

TEST(NextEvent, agrees_with_thinning_after_a_burst) {
  // Excited, then silent, then steady: a Hawkes decay times a refractory gap.
  const Intensity intensity = [](double g) { return (1 - std::exp(-8 * g)) * (0.25 + 2 * std::exp(-1.5 * g)); };
  const int draws = 200000;
  const auto gaps = thinned(intensity, 2.25, draws);
  const auto grid = gap_grid(1e-3, 40, kGapCells);
  const auto values = at_nodes(grid, intensity);
  const NextEvent next(grid, values);
  const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / draws;
  double squares = 0;
  for (const double g : gaps) squares += (g - mean) * (g - mean);
  EXPECT_NEAR(next.expectation(), mean, 4 * std::sqrt(squares) / draws + 0.001 * mean);
  for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const double below =
        static_cast<double>(std::lower_bound(gaps.begin(), gaps.end(), next.quantile(q)) - gaps.begin());
    EXPECT_NEAR(below / draws, q, 4 * std::sqrt(q * (1 - q) / draws) + 0.001) << q;
  }
}

TEST(NextEvent, draws_by_inverting_the_compensator) {
  const auto grid = gap_grid(1e-3, 5, kGapCells);
  const auto values = at_nodes(grid, [](double g) { return g / (1 + g); });
  const NextEvent next(grid, values);
  for (const double exposure : {0.0, 1e-6, 0.3, 2.0, 9.0})
    EXPECT_NEAR(next.compensator(next.gap_at(exposure)), exposure, 1e-12) << exposure;
}

/// Four constant intensities: a mixture of exponentials, whose hazard falls as the busy draws die out.
struct FourRates {
  std::vector<double> rates;
  std::vector<double> at_nodes(const GapGrid& grid) const {
    std::vector<double> values;
    for (std::size_t j = 0; j < grid.nodes.size(); ++j) values.insert(values.end(), rates.begin(), rates.end());
    return values;
  }
  double survival(double g) const {
    double sum = 0;
    for (const double rate : rates) sum += 0.25 * std::exp(-rate * g);
    return sum;
  }
};

TEST(NextEvent, of_several_draws_is_the_mixture_of_theirs) {
  const FourRates mixture{{0.05, 0.4, 1, 6}};
  const auto& rates = mixture.rates;
  const auto survival = [&](double g) { return mixture.survival(g); };
  const auto grid = gap_grid(1e-3, 30, kGapCells);
  auto values = mixture.at_nodes(grid);
  const NextEvent next(grid, values, 4);
  for (const double edge : grid.edges) EXPECT_NEAR(next.survival(edge) / survival(edge), 1, 1e-12) << edge;
  for (const double g : {0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 25.0}) EXPECT_NEAR(next.survival(g), survival(g), 0.002) << g;
  double expectation = 0;
  for (const double rate : rates) expectation += 0.25 / rate;
  EXPECT_NEAR(next.expectation() / expectation, 1, 0.001);
  for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) EXPECT_NEAR(survival(next.quantile(q)), 1 - q, 0.002) << q;
  // Draws whose exposures differ by more than exp() holds.
  for (double& value : values) value *= 1000;
  EXPECT_NEAR(NextEvent(grid, values, 4).expectation() / (expectation / 1000), 1, 0.01);
}

TEST(NextEvent, of_several_draws_is_the_mixture_beyond_the_horizon_too) {
  const FourRates mixture{{0.02, 0.4, 1, 6}};
  const auto survival = [&](double g) { return mixture.survival(g); };
  const auto grid = gap_grid(1e-3, 0.5, kGapCells);
  auto values = mixture.at_nodes(grid);
  const NextEvent next(grid, values, 4);
  for (const double g : {0.5, 1.0, 7.0, 100.0}) EXPECT_NEAR(next.survival(g) / survival(g), 1, 1e-11) << g;
  for (const double q : {0.6, 0.75, 0.95, 0.999}) {
    ASSERT_GT(next.quantile(q), 0.5);
    EXPECT_NEAR(survival(next.quantile(q)) / (1 - q), 1, 1e-10) << q;
  }
  values.back() = values[values.size() - 4] = 0;  // two draws after which nothing comes any more
  const NextEvent perhaps(grid, values, 4);
  EXPECT_TRUE(std::isinf(perhaps.quantile(0.9)));
  EXPECT_FALSE(std::isinf(perhaps.quantile(0.6)));
  EXPECT_TRUE(std::isinf(perhaps.expectation()));
}

TEST(NextEvent, has_no_cell_in_which_the_intensity_falls_below_zero) {
  const auto grid = gap_grid(1e-2, 10, 8);
  std::vector<double> values(grid.nodes.size(), 0.1);
  values[8] = 2, values[9] = 0;  // a line through these two would, and so would one that rises as steeply
  values[12] = 0, values[13] = 2;
  const NextEvent next(grid, values);
  double before = 0;
  for (int k = 1; k <= 2000; ++k) {
    const double now = next.compensator(10.0 * k / 2000);
    EXPECT_GE(now, before) << k;
    before = now;
  }
  for (const std::size_t c : {4, 6})
    EXPECT_NEAR(next.compensator(grid.edges[c + 1]) - next.compensator(grid.edges[c]),
                2 * grid.weights[c == 4 ? 8 : 13], 1e-12);
}

TEST(NextEvent, may_never_come) {
  const auto grid = gap_grid(1e-2, 10, 8);
  std::vector<double> values(grid.nodes.size(), 0.1);
  values[14] = values[15] = 0;  // the last cell
  const NextEvent next(grid, values);
  EXPECT_TRUE(std::isinf(next.expectation()));
  EXPECT_TRUE(std::isinf(next.quantile(0.99)));
  EXPECT_LT(next.quantile(0.05), 1);
  const std::vector<double> nothing(grid.nodes.size(), 0.0);
  EXPECT_TRUE(std::isinf(NextEvent(grid, nothing).quantile(0.05)));
  EXPECT_EQ(NextEvent(grid, nothing).survival(100), 1);
}

}  // namespace
