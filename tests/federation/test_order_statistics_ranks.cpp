// Medians and trimmed means against sorted numbers, and the same bits on any ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "federation/aggregator.hpp"
#include "federation/order_statistics.hpp"
#include "mpi/communicator.hpp"
#include "reference.hpp"

namespace {
using namespace fedpp::federation;
using fedpp::mpi::Communicator;
using fedpp::mpi::FixedPoint;

/// [clients][n] with ties, negative numbers, zeros of both signs and magnitudes far apart.
Columns random_columns(int clients, std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Columns columns;
  for (int c = 0; c < clients; ++c) {
    columns.emplace_back();
    for (std::size_t j = 0; j < n; ++j) {
      const double x = normal(engine);
      columns.back().push_back(j % 4 == 0   ? std::round(x)
                               : j % 4 == 1 ? std::copysign(0.0, x)
                               : j % 4 == 2 ? x
                                            : x * std::exp(9 * x));
    }
  }
  return columns;
}

std::vector<double> sorted_column(const Columns& columns, std::size_t j) {
  std::vector<double> all;
  for (const auto& client : columns) all.push_back(client[j]);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(OrderStatistics, are_those_of_the_sorted_numbers_on_any_ranks) {
  auto comm = Communicator::world();
  constexpr std::size_t n = 9;
  for (const int clients : {1, 2, 7, 20}) {
    const auto all = random_columns(clients, n, 3 + clients);
    Columns mine;
    for (int c = 0; c < clients; ++c)
      if (c % comm.size() == comm.rank()) mine.push_back(all[c]);
    for (const int rank : {1, (clients + 1) / 2, clients}) {
      const auto found = order_statistic(comm, mine, n, rank, "test");
      for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(found[j], sorted_column(all, j)[rank - 1]);
    }
    const auto middle = medians(comm, mine, n, clients, "test");
    for (std::size_t j = 0; j < n; ++j) {
      const auto column = sorted_column(all, j);
      EXPECT_EQ(middle[j], 0.5 * column[(clients - 1) / 2] + 0.5 * column[clients / 2]);
    }
    for (const double trim : {0.0, 0.1, 0.3, 0.49}) {
      const auto means = trimmed_means(comm, mine, n, clients, trim, "test");
      for (std::size_t j = 0; j < n; ++j) {
        const auto column = sorted_column(all, j);
        const auto cut = static_cast<std::size_t>(trim * clients);
        long double sum = 0;
        for (std::size_t k = cut; k < column.size() - cut; ++k) sum += column[k];
        const auto expected = static_cast<double>(sum / static_cast<long double>(column.size() - 2 * cut));
        EXPECT_NEAR(means[j], expected, 1e-12 * std::max(1.0, std::fabs(column.back()) + std::fabs(column.front())));
      }
    }
  }
}

/// One value of each client, by its number.
Columns one_column(const std::vector<double>& values) {
  Columns columns;
  for (const double x : values) columns.push_back({x});
  return columns;
}

TEST(TrimmedMeans, cut_the_share_that_is_asked_for_though_no_double_is) {
  auto alone = fedpp::mpi::Communicator::self();
  std::vector<double> squares;
  for (int c = 0; c < 100; ++c) squares.push_back(c * c);
  double sum = 0;
  for (int c = 29; c < 71; ++c) sum += c * c;
  EXPECT_NEAR(trimmed_means(alone, one_column(squares), 1, 100, 0.29, "test")[0], sum / 42, 1e-9);
  // A share just below a half leaves something of two.
  EXPECT_EQ(trimmed_means(alone, one_column({1, 4}), 1, 2, std::nextafter(0.5, 0.0), "test")[0], 2.5);
}

TEST(TrimmedMeans, of_what_no_sum_holds_are_an_error) {
  auto alone = fedpp::mpi::Communicator::self();
  EXPECT_THROW(trimmed_means(alone, one_column({-1e300, 1e200, 2e200, 3e200, 1e300}), 1, 5, 0.2, "test"),
               fedpp::mpi::Error);
}

class RobustRules : public testing::TestWithParam<Divergence> {};

TEST_P(RobustRules, theta_is_the_same_on_any_ranks_and_hostile_uploads_hardly_move_it) {
  auto comm = Communicator::world();
  auto alone = fedpp::mpi::Communicator::self();
  auto input = reference::random_case(21, 5, 0.2, 0.1, 0.2, 4);
  const Gaussian theta{std::vector<double>(5, 0.1), std::vector<double>(5, 0.3)};
  const auto barycentre = [&](fedpp::mpi::Communicator& comm, Estimator estimator, bool split) {
    std::vector<Upload> mine;
    for (const auto& upload : input.views())
      if (!split || upload.client % comm.size() == comm.rank()) mine.push_back(upload);
    return Aggregator({GetParam(), FixedPoint::one_word(20), 0, estimator, 0.25}, comm).aggregate(theta, mine).theta;
  };
  const auto honest = barycentre(alone, Estimator::kMean, false);
  for (int c = 0; c < 4; ++c)  // a fifth of the clients
    for (double& r : input.uploads[c].mean) r += 1e3;
  EXPECT_GT(barycentre(alone, Estimator::kMean, false).mean[0], 100);
  for (const auto estimator : {Estimator::kMedian, Estimator::kTrimmedMean}) {
    const auto result = barycentre(comm, estimator, true), one = barycentre(alone, estimator, false);
    EXPECT_EQ(result.mean, one.mean);
    EXPECT_EQ(result.sd, one.sd);
    for (std::size_t p = 0; p < 5; ++p) {
      EXPECT_NEAR(result.mean[p], honest.mean[p], 0.1);
      EXPECT_NEAR(std::log(result.sd[p] / honest.sd[p]), 0, 0.7);
    }
  }
}

TEST_P(RobustRules, of_clients_that_agree_all_estimators_give_the_same) {
  auto alone = fedpp::mpi::Communicator::self();
  reference::Case input = reference::random_case(1, 4, 0.2, 1, 0.2, 9);
  for (int c = 0; c < 5; ++c) {
    input.uploads.push_back(input.uploads.front());
    input.weights.push_back(1);
  }
  const Gaussian theta{std::vector<double>(4, 0.1), std::vector<double>(4, 0.3)};
  for (const auto estimator : {Estimator::kMean, Estimator::kMedian, Estimator::kTrimmedMean}) {
    const auto views = input.views();
    const auto result =
        Aggregator({GetParam(), FixedPoint::two_words(), 0, estimator, 0.2}, alone).aggregate(theta, views).theta;
    for (std::size_t p = 0; p < 4; ++p) {
      EXPECT_NEAR(result.mean[p], input.uploads[0].mean[p], 1e-12);
      EXPECT_NEAR(result.sd[p], input.uploads[0].sd[p], 1e-12);
    }
  }
}

/// However large: what the sums cannot hold is rejected before them.
TEST_P(RobustRules, hostile_uploads_of_any_size_end_no_round) {
  auto alone = fedpp::mpi::Communicator::self();
  const Gaussian theta{std::vector<double>(4, 0.1), std::vector<double>(4, 0.3)};
  for (const auto estimator : {Estimator::kMedian, Estimator::kTrimmedMean})
    for (double size = 1; size < 1e300; size *= 1.7) {
      auto input = reference::random_case(10, 4, 0.2, 1, 0.2, 9);
      for (int c = 0; c < 6; ++c)
        for (double& r : input.uploads[c].mean) r *= c % 2 == 0 ? size : -size;
      const auto views = input.views();
      const auto result =
          Aggregator({GetParam(), FixedPoint::one_word(40), 0, estimator, 0.0}, alone).aggregate(theta, views);
      EXPECT_EQ(result.accepted + result.rejected.size(), 10u);
      for (std::size_t p = 0; p < 4; ++p)
        EXPECT_TRUE(std::isfinite(result.theta.mean[p]) && std::isfinite(result.theta.sd[p]) && result.theta.sd[p] > 0)
            << size;
    }
}

INSTANTIATE_TEST_SUITE_P(Robust, RobustRules, testing::Values(Divergence::kKl, Divergence::kW2, Divergence::kFedavg),
                         reference::name_of);
}  // namespace
