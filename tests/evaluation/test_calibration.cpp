#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "evaluation/calibration.hpp"

namespace fedpp::evaluation {
namespace {

TEST(KolmogorovSmirnov, OneValueHasItsClosedForm) {
  for (double x : {0.05, 0.5, 3.0}) {
    const double cdf = 1 - std::exp(-x);
    EXPECT_NEAR(ks_distance_from_exponential({x}), std::max(cdf, 1 - cdf), 1e-15);
  }
}

TEST(KolmogorovSmirnov, TheQuantilesThemselvesAreHalfAStepAway) {
  std::vector<double> x;
  for (int i = 9; i >= 0; --i) x.push_back(-std::log(1 - (i + 0.5) / 10));
  EXPECT_NEAR(ks_distance_from_exponential(x), 0.05, 1e-14);
}

TEST(KolmogorovSmirnov, AnExponentialOfAnotherRateHasItsClosedForm) {
  // F_n -> 1 - exp(-2x) against 1 - exp(-x): sup at x = log 2, 1/2 - 1/4.
  std::vector<double> x;
  constexpr int n = 20000;
  for (int i = 0; i < n; ++i) x.push_back(-std::log(1 - (i + 0.5) / n) / 2);
  EXPECT_NEAR(ks_distance_from_exponential(x), 0.25, 1.0 / n);
}

TEST(KolmogorovSmirnov, NothingGivesNothing) { EXPECT_TRUE(std::isnan(ks_distance_from_exponential({}))); }

std::vector<double> increments_of(const std::vector<RescalingStream>& streams, std::uint64_t seed,
                                  WindowEnds ends = WindowEnds::kByTime) {
  data::Random random(seed, data::Purpose::kDeRounding, 0);
  RescaledIncrements increments(random, ends);
  for (const auto& stream : streams) increments.add(stream);
  return increments.all();
}

TEST(RescaledIncrements, AreTheCellsBetweenEventsAndGoOnFromOneWindowToTheNext) {
  const std::vector<double> times{1, 2, 4}, multiplicities{1, 1, 1}, cells{0.1, 0.2, 0.3, 0.4}, silent{0.25};
  const RescalingStream stream{times, multiplicities, cells, {0, 5}}, without{{}, {}, silent, {0, 5}};
  EXPECT_EQ(increments_of({stream}, 1), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(increments_of({stream, without, stream}, 1),
            (std::vector<double>{0.1, 0.2, 0.3, 0.4 + 0.25 + 0.1, 0.2, 0.3}));
  EXPECT_TRUE(increments_of({without}, 1).empty());
  EXPECT_EQ(increments_of({stream, without, stream}, 1, WindowEnds::kByEvents),
            (std::vector<double>{0.2, 0.3, 0.2, 0.3}));
  // A stream with ties goes on from one without.
  const std::vector<double> twice{2, 1, 1};
  const auto tied = increments_of({without, {times, twice, cells, {0, 5}}}, 1);
  ASSERT_EQ(tied.size(), 4u);
  EXPECT_GT(tied[0], 0.25);
  EXPECT_LT(tied[0], 0.25 + 0.1 + 0.2);
  EXPECT_EQ(increments_of({without, {times, twice, cells, {0, 5}}}, 1, WindowEnds::kByEvents),
            std::vector<double>(tied.begin() + 1, tied.end()));
}

TEST(RescaledIncrements, OfWindowsThatBeginHalfwayAndEndAtAnEventOfTheTruthAreCalibrated) {
  // The default without a windows table: the first increment is half a gap, and nothing is left at the end.
  std::mt19937_64 engine(5);
  std::exponential_distribution<double> gap(1);
  data::Random random(1, data::Purpose::kDeRounding, 0);
  RescaledIncrements increments(random, WindowEnds::kByEvents);
  for (int w = 0; w < 1500; ++w) {
    const double begins = 0.5 * gap(engine);
    std::vector<double> times{begins}, cells{begins};
    for (int k = 0; k < 2; ++k) {
      cells.push_back(gap(engine));
      times.push_back(times.back() + cells.back());
    }
    cells.push_back(0);
    const std::vector<double> ones(times.size(), 1.0);
    increments.add({times, ones, cells, {0, times.back()}});
  }
  const auto& all = increments.all();
  EXPECT_EQ(all.size(), 3000u);
  EXPECT_LT(ks_distance_from_exponential(all), 1.628 / std::sqrt(static_cast<double>(all.size())));
}

TEST(RescaledIncrements, OfShortWindowsOfTheTruthAreCalibrated) {
  // Most windows have no event or one: increments within windows alone would be far too small.
  std::mt19937_64 engine(9);
  std::exponential_distribution<double> gap(1);
  const double length = 0.8;
  std::vector<std::vector<double>> times, ones, cells;
  for (int w = 0; w < 4000; ++w) {
    auto& t = times.emplace_back();
    for (double at = gap(engine); at < length; at += gap(engine)) t.push_back(at);
    ones.emplace_back(t.size(), 1.0);
    auto& c = cells.emplace_back();
    double before = 0;
    for (const double at : t) c.push_back(at - before), before = at;
    c.push_back(length - before);
  }
  std::vector<RescalingStream> streams;
  for (std::size_t w = 0; w < times.size(); ++w) streams.push_back({times[w], ones[w], cells[w], {0, length}});
  const auto all = increments_of(streams, 1);
  EXPECT_GT(all.size(), 3000u);
  EXPECT_LT(ks_distance_from_exponential(all), 1.628 / std::sqrt(static_cast<double>(all.size())));  // 1 % level
}

TEST(RescaledIncrements, OfManyClientsWithShortWindowsOfTheTruthAreCalibratedTogether) {
  // Five events are expected of a client. Without the increments that its window's end cuts off, those of all together
  // would be too short by 1 / (5 e), seven times what their number allows.
  std::mt19937_64 engine(3);
  std::exponential_distribution<double> gap(1);
  const double length = 5;
  std::vector<double> all, cut;
  for (int client = 0; client < 2000; ++client) {
    std::vector<double> times, cells;
    for (double at = gap(engine); at < length; at += gap(engine)) {
      cells.push_back(at - (times.empty() ? 0 : times.back()));
      times.push_back(at);
    }
    cells.push_back(length - (times.empty() ? 0 : times.back()));
    const std::vector<double> ones(times.size(), 1.0);
    data::Random random(1, data::Purpose::kDeRounding, client);
    RescaledIncrements increments(random, WindowEnds::kByTime);
    increments.add({times, ones, cells, {0, length}});
    cut.insert(cut.end(), increments.all().begin(), increments.all().end());
    increments.finish();
    EXPECT_EQ(increments.all().size(), times.size() + 1);
    EXPECT_GT(increments.all().back(), cells.back());
    all.insert(all.end(), increments.all().begin(), increments.all().end());
  }
  const double band = 1.628 / std::sqrt(static_cast<double>(all.size()));  // 1 % level
  EXPECT_LT(ks_distance_from_exponential(all), band);
  EXPECT_GT(ks_distance_from_exponential(cut), 3 * band);
}

TEST(RescaledIncrements, AWindowThatEndsAtATieCutsNothingOff) {
  const std::vector<double> times{1, 2, 4}, tied{1, 1, 2}, cells{0.1, 0.2, 0.4, 0};
  data::Random random(1, data::Purpose::kDeRounding, 0);
  RescaledIncrements increments(random, WindowEnds::kByTime);
  increments.add({times, tied, cells, {0, 4}});  // de-rounding moves both away from the end
  increments.finish();
  EXPECT_EQ(increments.all().size(), 4u);
}

TEST(RescaledIncrements, OnlyTheLastWindowSaysWhetherSomethingIsCutOff) {
  const std::vector<double> one{1}, at_end{0.1, 0}, within{0.2, 0.3};
  const RescalingStream ends{one, one, at_end, {0, 1}}, goes_on{one, one, within, {0, 2}};
  for (const bool cut_off : {true, false}) {
    data::Random random(1, data::Purpose::kDeRounding, 0);
    RescaledIncrements increments(random, WindowEnds::kByTime);
    increments.add(cut_off ? ends : goes_on);
    increments.add(cut_off ? goes_on : ends);
    increments.finish();
    EXPECT_EQ(increments.all().size(), cut_off ? 3u : 2u);
  }
}

TEST(RescaledIncrements, WhatIsObservedOfNothingOrEndsByEventsGoesNoFurther) {
  data::Random random(1, data::Purpose::kDeRounding, 0);
  RescaledIncrements nothing(random, WindowEnds::kByTime);
  nothing.finish();
  EXPECT_TRUE(nothing.all().empty());
  const std::vector<double> times{1, 2}, ones{1, 1}, cells{0.1, 0.2, 0.3};
  RescaledIncrements by_events(random, WindowEnds::kByEvents);
  by_events.add({times, ones, cells, {0, 3}});
  by_events.finish();
  EXPECT_EQ(by_events.all(), std::vector<double>{0.2});
}

/// A Poisson stream of the given rate on [0, length], its times those of the middles of cells of length `grid`, merged.
struct Rounded {
  std::vector<double> times, multiplicities, cells;
};
Rounded rounded_poisson(double rate, double length, double grid, unsigned seed = 4) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(rate);
  Rounded r;
  double before = 0;
  for (double t = gap(random); t < length; t += gap(random)) {
    const double shown = (std::floor(t / grid) + 0.5) * grid;
    if (!r.times.empty() && shown == r.times.back()) {
      r.multiplicities.back() += 1;
      continue;
    }
    r.times.push_back(shown);
    r.multiplicities.push_back(1);
    r.cells.push_back(rate * (shown - before));
    before = shown;
  }
  r.cells.push_back(rate * (length - before));
  return r;
}

TEST(RescaledIncrements, TiesByRoundingDoNotSpoilTheCalibrationOfTheTruth) {
  const Rounded r = rounded_poisson(10, 400, 0.125);  // most points tied
  const auto increments = increments_of({{r.times, r.multiplicities, r.cells, {0, 400}}}, 7);
  const double events = std::accumulate(r.multiplicities.begin(), r.multiplicities.end(), 0.0);
  ASSERT_GT(events, 1.2 * static_cast<double>(r.times.size()));
  EXPECT_EQ(static_cast<double>(increments.size()), events);
  EXPECT_LT(ks_distance_from_exponential(increments), 1.628 / std::sqrt(events));  // 1 % level
  const double sum = std::accumulate(increments.begin(), increments.end(), 0.0);
  EXPECT_NEAR(sum, 10 * r.times.back(), 10 * 0.125);
  // Merged ties would be far off.
  EXPECT_GT(ks_distance_from_exponential({r.cells.begin() + 1, r.cells.end() - 1}), 0.1);
}

TEST(RescaledIncrements, TiesThatLostTheirLastBitsAreTies) {
  // Sequences that lie over each other: each time has lost its own sequence's start.
  const Rounded r = rounded_poisson(10, 400, 0.125);
  Rounded split;
  double before = 0;
  for (std::size_t i = 0; i < r.times.size(); ++i)
    for (int copy = 0; copy < static_cast<int>(r.multiplicities[i]); ++copy) {
      split.times.push_back(r.times[i] + copy * 1e-12);
      split.cells.push_back(10 * (split.times.back() - before));
      before = split.times.back();
    }
  split.cells.push_back(10 * (400 - before));
  split.multiplicities.assign(split.times.size(), 1.0);
  const auto increments = increments_of({{split.times, split.multiplicities, split.cells, {0, 400}}}, 7);
  EXPECT_LT(ks_distance_from_exponential(increments), 1.628 / std::sqrt(static_cast<double>(increments.size())));
}

TEST(RescaledIncrements, DependOnTheSeedAlone) {
  const Rounded r = rounded_poisson(10, 20, 0.125);
  const RescalingStream stream{r.times, r.multiplicities, r.cells, {0, 20}};
  EXPECT_EQ(increments_of({stream}, 7), increments_of({stream}, 7));
  EXPECT_NE(increments_of({stream}, 7), increments_of({stream}, 8));
}

TEST(RescaledIncrements, ManyShortStreamsAreEachMovedByNumbersOfTheirOwn) {
  data::Random random(7, data::Purpose::kDeRounding, 0);
  RescaledIncrements increments(random, WindowEnds::kByTime);
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Rounded r = rounded_poisson(2, 10, 1, seed);
    increments.add({r.times, r.multiplicities, r.cells, {0, 10}});
  }
  // Moved alike they would share their increments' fate.
  const auto& all = increments.all();
  EXPECT_LT(ks_distance_from_exponential(all), 1.628 / std::sqrt(static_cast<double>(all.size())));
}

TEST(RescaledIncrements, ATieAtOnePointStaysWithinTheWindow) {
  const std::vector<double> time{3}, multiplicity{3}, cells{1, 0};
  const auto increments = increments_of({{time, multiplicity, cells, {1, 3}}}, 1);
  ASSERT_EQ(increments.size(), 3u);
  for (double x : increments) EXPECT_TRUE(x >= 0 && x <= 1) << x;
  EXPECT_LE(std::accumulate(increments.begin(), increments.end(), 0.0), 1);
}

}  // namespace
}  // namespace fedpp::evaluation
