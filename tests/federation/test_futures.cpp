// Futures of a known process: each path goes on from its own events, and no path depends on another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "federation/futures.hpp"

namespace {

using namespace fedpp;
using federation::FuturePath;
using federation::GapStart;

constexpr double kBase = 0.5, kBranching = 0.6, kDecay = 2;

/// The exponential Hawkes process that a path's own history leads to.
class Hawkes {
 public:
  std::vector<evaluation::NextEvent> operator()(const std::vector<GapStart>& starts) const {
    std::vector<evaluation::NextEvent> next;
    for (const auto& start : starts) {
      EXPECT_EQ(start.before, start.path->times.size());
      double excited = 0;
      for (const double t : start.path->times) excited += std::exp(-kDecay * (start.from - t));
      std::vector<double> intensity;
      for (const double gap : grid_.nodes)
        intensity.push_back(kBase + kBranching * kDecay * excited * std::exp(-kDecay * gap));
      next.emplace_back(grid_, intensity);
    }
    return next;
  }

 private:
  evaluation::GapGrid grid_ = evaluation::gap_grid(1e-3, 50, evaluation::kGapCells);
};

std::vector<FuturePath> paths_of(int sequence, int count, double until) {
  std::vector<FuturePath> paths;
  for (int number = 0; number < count; ++number)
    paths.push_back({3,
                     static_cast<std::size_t>(sequence),
                     static_cast<std::uint32_t>(number),
                     0,
                     until,
                     {0, {0}, {0}},
                     {},
                     false});
  return paths;
}

TEST(Futures, of_a_hawkes_process_have_its_mean_number_of_events) {
  const double until = 10;
  const int count = 4000;
  auto paths = paths_of(0, count, until);
  federation::draw_futures(paths, 1, Hawkes());
  double sum = 0, squares = 0;
  for (const auto& path : paths) {
    const auto n = static_cast<double>(path.drawn.size());
    sum += n;
    squares += n * n;
    EXPECT_FALSE(path.cut);
    ASSERT_EQ(path.history.times.size(), path.drawn.size() + 1);
    for (std::size_t i = 0; i < path.drawn.size(); ++i) {
      EXPECT_GT(path.drawn[i], i > 0 ? path.drawn[i - 1] : 0);
      EXPECT_LE(path.drawn[i], until);
      EXPECT_EQ(path.history.times[i + 1], path.drawn[i]);
    }
  }
  // E lambda(t) = mu / (1 - a) + (mu + a b - mu / (1 - a)) exp(-b (1 - a) t) after an event at 0.
  const double rate = kBase / (1 - kBranching), fall = kDecay * (1 - kBranching);
  const double expected = rate * until - (kBase + kBranching * kDecay - rate) * std::expm1(-fall * until) / fall;
  const double mean = sum / count, sd = std::sqrt(squares / count - mean * mean);
  EXPECT_NEAR(mean, expected, 4 * sd / std::sqrt(count) + 0.002 * expected);
}

TEST(Futures, do_not_depend_on_the_others) {
  auto all = paths_of(0, 5, 8), other = paths_of(1, 5, 20);
  const auto alone = [&] {
    auto paths = std::vector{all[3]};
    federation::draw_futures(paths, 7, Hawkes());
    return paths[0].drawn;
  }();
  all.insert(all.begin(), other.begin(), other.end());
  federation::draw_futures(all, 7, Hawkes());
  ASSERT_FALSE(alone.empty());
  EXPECT_EQ(all[8].drawn, alone);
  EXPECT_NE(all[7].drawn, alone);
  EXPECT_NE(all[3].drawn, alone);
  auto another_seed = std::vector{paths_of(0, 5, 8)[3]};
  federation::draw_futures(another_seed, 8, Hawkes());
  EXPECT_NE(another_seed[0].drawn, alone);
}

TEST(Futures, are_each_of_one_draw_of_the_model_from_beginning_to_end) {
  auto paths = paths_of(0, 3, 10);
  const auto grid = evaluation::gap_grid(1e-3, 1, 4);
  federation::draw_futures(paths, 1, [&](const std::vector<GapStart>& starts) {
    for (const auto& start : starts) {
      const auto path = std::ranges::find(paths, start.path, [](const FuturePath& p) { return &p.history; });
      EXPECT_EQ(start.first_draw, path->number);
      EXPECT_EQ(start.from, path->drawn.empty() ? path->from : path->drawn.back());
    }
    const std::vector<double> constant(grid.nodes.size(), 1.0);
    return std::vector<evaluation::NextEvent>(starts.size(), evaluation::NextEvent(grid, constant));
  });
}

TEST(Futures, tell_what_share_of_their_time_is_behind_them) {
  auto paths = paths_of(0, 2, 10);
  paths[1].until = 4;
  const auto grid = evaluation::gap_grid(1e-3, 1, 4);
  std::vector<double> shares;
  federation::draw_futures(
      paths, 1,
      [&](const std::vector<GapStart>& starts) {
        const std::vector<double> constant(grid.nodes.size(), 1.0);
        return std::vector<evaluation::NextEvent>(starts.size(), evaluation::NextEvent(grid, constant));
      },
      [&](double share) { shares.push_back(share); });
  ASSERT_GT(shares.size(), 3u);
  EXPECT_DOUBLE_EQ(shares[0], (paths[0].drawn[0] / 10 + paths[1].drawn[0] / 4) / 2);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.back(), 1);
}

TEST(Futures, stop_at_the_bound_and_where_no_time_is_left) {
  auto paths = paths_of(0, 2, 1e9);
  paths[1].until = paths[1].from;
  const auto grid = evaluation::gap_grid(1e-3, 1, 4);
  federation::draw_futures(paths, 1, [&](const std::vector<GapStart>& starts) {
    const std::vector<double> constant(grid.nodes.size(), 1.0);
    return std::vector<evaluation::NextEvent>(starts.size(), evaluation::NextEvent(grid, constant));
  });
  EXPECT_TRUE(paths[0].cut);
  EXPECT_EQ(paths[0].drawn.size(), federation::kMostDrawn);
  EXPECT_FALSE(paths[1].cut);
  EXPECT_TRUE(paths[1].drawn.empty());
}

}  // namespace
