// The new theta has the same bits for every dealing of the uploads to ranks, and equals the single process's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "federation/aggregator.hpp"
#include "mpi/communicator.hpp"
#include "mpi/turns.hpp"
#include "reference.hpp"

namespace {
using namespace fedpp::federation;
using fedpp::mpi::Communicator;
using fedpp::mpi::FixedPoint;

class Rules : public testing::TestWithParam<Divergence> {};

TEST_P(Rules, theta_has_the_same_bits_for_any_dealing_to_ranks) {
  auto comm = Communicator::world();
  auto alone = fedpp::mpi::Communicator::self();
  std::mt19937 engine(5);  // the same on every rank
  for (const auto format : {FixedPoint::one_word(40), FixedPoint::two_words()}) {
    for (const int clients : {1, 3, 40}) {
      auto input = reference::random_case(clients, 12, 0.2, 1.0, 0.2, 31 + clients);
      if (clients > 3) input.uploads[2].sd[5] = -1;  // one to reject
      const Gaussian theta{std::vector<double>(12, 0.1), std::vector<double>(12, 0.3)};
      auto views = input.views();
      const auto expected = Aggregator({GetParam(), format, 0}, alone).aggregate(theta, views);
      for (int dealing = 0; dealing < 3; ++dealing) {
        std::shuffle(views.begin(), views.end(), engine);
        std::vector<Upload> mine;
        for (const auto& upload : views) {
          if (static_cast<int>(engine() % comm.size()) == comm.rank()) mine.push_back(upload);
        }
        const auto result = Aggregator({GetParam(), format, 0}, comm).aggregate(theta, mine);
        EXPECT_EQ(result.theta.mean, expected.theta.mean);
        EXPECT_EQ(result.theta.sd, expected.theta.sd);
        EXPECT_EQ(result.bandwidth, expected.bandwidth);
        EXPECT_EQ(result.accepted, expected.accepted);
        EXPECT_EQ(comm.allreduce(static_cast<int>(result.rejected.size()), fedpp::mpi::Op::sum, "test"),
                  clients > 3 ? 1 : 0);
      }
    }
  }
}

TEST_P(Rules, an_upload_beyond_the_sums_is_left_out_on_all_ranks) {
  auto comm = Communicator::world();
  auto input = reference::random_case(8, 3, 0, 1, 0.2, 77);
  input.uploads[5].mean[1] =
      GetParam() == Divergence::kMmd ? 1e13 : 1e8;  // squares beyond two words, and values beyond one
  std::vector<Upload> mine;
  for (const auto& upload : input.views()) {
    if (upload.client % comm.size() == comm.rank()) mine.push_back(upload);
  }
  const Gaussian theta{std::vector<double>(3, 0), std::vector<double>(3, 0.3)};
  const auto result = Aggregator({GetParam(), FixedPoint::one_word(40), 0}, comm).aggregate(theta, mine);
  EXPECT_EQ(result.accepted, 7u);
  EXPECT_EQ(result.rejected.size(), comm.rank() == 5 % comm.size() ? 1u : 0u);
  auto views = input.views();
  views.erase(views.begin() + 5);
  auto alone = fedpp::mpi::Communicator::self();
  const auto expected = Aggregator({GetParam(), FixedPoint::one_word(40), 0}, alone).aggregate(theta, views);
  EXPECT_EQ(result.theta.mean, expected.theta.mean);
  EXPECT_EQ(result.theta.sd, expected.theta.sd);
}

TEST_P(Rules, traffic_does_not_depend_on_the_number_of_clients) {
  if (GetParam() == Divergence::kMmd) GTEST_SKIP() << "the number of Newton steps depends on the uploads";
  auto comm = Communicator::world();
  const Gaussian theta{std::vector<double>(6, 0), std::vector<double>(6, 0.3)};
  std::vector<std::uint64_t> bytes;
  for (const int clients : {4, 64}) {
    const auto input = reference::random_case(clients, 6, 0, 0.2, 0.2, 78);
    std::vector<Upload> mine;
    for (const auto& upload : input.views()) {
      if (upload.client % comm.size() == comm.rank()) mine.push_back(upload);
    }
    Aggregator({GetParam(), FixedPoint::one_word(40), 0}, comm).aggregate(theta, mine);
    bytes.push_back(comm.ledger().end_round());
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  if (comm.size() > 1) {
    EXPECT_EQ(comm.ledger().entries().at("reduce uploads").bytes, 2u * 12 * 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Aggregator, Rules,
                         testing::Values(Divergence::kKl, Divergence::kW2, Divergence::kFedavg, Divergence::kMmd),
                         reference::name_of);
}  // namespace
