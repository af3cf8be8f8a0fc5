// Every client's own prior against plain loops over its community, with the same bits for every dealing to ranks.
#include <gtest/gtest.h>

#include <cmath>

#include "federation/community_barycentres.hpp"
#include "federation/personal_priors.hpp"
#include "reference.hpp"

namespace {
using namespace fedpp::federation;
using fedpp::mpi::Communicator;
using fedpp::mpi::FixedPoint;

struct Federation {
  reference::Case all;  // uploads of clients 0, 2, 4, ...: the others have none
  Communities communities;
  Gaussian around;

  explicit Federation(std::size_t clients, std::size_t parameters) {
    all = reference::random_case(static_cast<int>(clients), static_cast<int>(parameters), 3.0, 1.0, 0.01, 7);
    around = {std::vector<double>(parameters, 2.5), std::vector<double>(parameters, 0.3)};
    for (std::size_t k = 0; k < clients; ++k) {
      communities.clients.push_back(static_cast<std::int64_t>(2 * k));
      communities.partition.push_back(k == 0 ? 0 : 1 + static_cast<std::int64_t>(k % 3));  // the first is alone
    }
    communities.alpha.assign(clients * clients, 0.0);
    for (std::size_t u = 0; u < clients; ++u) {
      double sum = 0;
      for (std::size_t v = 0; v < clients; ++v)
        if (communities.partition[u] == communities.partition[v])
          sum += communities.alpha[u * clients + v] = 1.0 + static_cast<double>((3 * u + v) % 5);
      for (std::size_t v = 0; v < clients; ++v) communities.alpha[u * clients + v] /= sum;
    }
  }

  KeptUploads of(const Owner& owner, int rank) const {
    KeptUploads mine;
    for (std::size_t k = 0; k < communities.clients.size(); ++k)
      if (owner(communities.clients[k]) == rank)
        mine[communities.clients[k]] = {0, {all.uploads[k].mean, all.uploads[k].sd}};
    return mine;
  }

  /// The barycentre of client u's community as the plain reference has it.
  reference::Case weighted(std::size_t u) const {
    auto one = all;
    for (std::size_t v = 0; v < one.weights.size(); ++v) one.weights[v] = communities.alpha[u * one.weights.size() + v];
    return one;
  }
};

class OwnPriors : public testing::TestWithParam<Divergence> {};

TEST_P(OwnPriors, are_the_barycentres_of_the_communities_on_any_ranks) {
  auto comm = Communicator::world();
  auto alone = Communicator::self();
  const AggregatorOptions options{GetParam(), FixedPoint::one_word(40), 0.7};
  for (const std::size_t parameters : {std::size_t{3}, std::size_t{400}}) {
    const Federation f(GetParam() == Divergence::kMmd ? 7 : 23, parameters);
    const Owner one = [](std::int64_t) { return 0; };
    const auto expected = community_barycentres(alone, one, f.communities, f.of(one, 0), f.around, options);
    ASSERT_EQ(expected.size(), f.communities.clients.size());
    for (const int stride : {1, 5}) {
      const Owner owner = [&](std::int64_t client) { return static_cast<int>(client / 2 * stride % 7) % comm.size(); };
      const auto mine = community_barycentres(comm, owner, f.communities, f.of(owner, comm.rank()), f.around, options);
      EXPECT_EQ(comm.allreduce(static_cast<std::int64_t>(mine.size()), fedpp::mpi::Op::sum, "test"),
                static_cast<std::int64_t>(expected.size()));
      for (const auto& [client, prior] : mine) {
        EXPECT_EQ(owner(client), comm.rank());
        EXPECT_EQ(prior.mean, expected.at(client).mean);
        EXPECT_EQ(prior.sd, expected.at(client).sd);
      }
    }
    if (GetParam() == Divergence::kMmd) continue;
    for (std::size_t u = 0; u < f.communities.clients.size(); ++u) {
      const auto plain = reference::barycentre(f.weighted(u), GetParam());
      const auto& prior = expected.at(f.communities.clients[u]);
      for (std::size_t p = 0; p < parameters; ++p) {
        EXPECT_NEAR(prior.mean[p], plain.mean[p], 1e-10);
        EXPECT_NEAR(prior.sd[p], plain.sd[p], 1e-7 * plain.sd[p] + 1e-10);
      }
    }
    // The one that is alone gets its own upload.
    EXPECT_NEAR(expected.at(0).mean[0], f.all.uploads[0].mean[0], 1e-10);
    EXPECT_NEAR(expected.at(0).sd[0], f.all.uploads[0].sd[0], 1e-7);
  }
}

TEST(PriorsOfCommunities, mmd_minimises_its_objective) {
  auto alone = Communicator::self();
  const Federation f(7, 4);
  const Owner one = [](std::int64_t) { return 0; };
  const auto priors = community_barycentres(alone, one, f.communities, f.of(one, 0), f.around,
                                            {Divergence::kMmd, FixedPoint::one_word(40), 0.7});
  for (const std::size_t u : {0, 3, 6}) {
    const auto weighted = f.weighted(u);
    const auto& prior = priors.at(f.communities.clients[u]);
    for (std::size_t p = 0; p < 4; ++p) {
      const double best = reference::mmd_objective(weighted, p, prior.mean[p], prior.sd[p], 0.7);
      for (const double step : {-1e-3, 1e-3}) {
        EXPECT_GE(reference::mmd_objective(weighted, p, prior.mean[p] + step, prior.sd[p], 0.7), best);
        EXPECT_GE(reference::mmd_objective(weighted, p, prior.mean[p], prior.sd[p] * (1 + step), 0.7), best - 1e-13);
      }
    }
  }
}

/// 4e6 is what one word of 40 fraction bits holds of two uploads; here 23 clients add to a sum.
TEST_P(OwnPriors, hold_what_a_rounds_sums_hold) {
  auto alone = Communicator::self();
  Federation f(GetParam() == Divergence::kMmd ? 7 : 23, 3);
  for (auto& upload : f.all.uploads) upload.mean[1] += 4e6;
  f.around.mean[1] += 4e6;
  const Owner one = [](std::int64_t) { return 0; };
  const auto priors = community_barycentres(alone, one, f.communities, f.of(one, 0), f.around,
                                            {GetParam(), FixedPoint::one_word(40), 0.7});
  EXPECT_NEAR(priors.at(0).mean[1], f.all.uploads[0].mean[1], 1e-8);
}

/// A spread of 1e-8 around 2.5 + 1e6 is none in a double around 2.5.
TEST(PriorsOfCommunities, kl_spreads_survive_communities_far_from_the_common_prior) {
  auto comm = Communicator::world();
  Federation f(11, 3);
  for (std::size_t v = 0; v < 11; ++v) {
    if (f.communities.partition[v] != 2) continue;
    for (std::size_t p = 0; p < 3; ++p) {
      f.all.uploads[v].mean[p] = 1e6 + 1e-4 * static_cast<double>(v);
      f.all.uploads[v].sd[p] = 1e-4;
    }
  }
  const Owner owner = [&](std::int64_t client) { return static_cast<int>(client / 2) % comm.size(); };
  const auto priors = community_barycentres(comm, owner, f.communities, f.of(owner, comm.rank()), f.around,
                                            {Divergence::kKl, FixedPoint::one_word(40), 0});
  for (std::size_t u = 0; u < 11; ++u) {
    const auto mine = priors.find(f.communities.clients[u]);
    ASSERT_EQ(mine != priors.end(), owner(f.communities.clients[u]) == comm.rank());
    if (mine == priors.end()) continue;
    const auto plain = reference::barycentre(f.weighted(u), Divergence::kKl);
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_NEAR(mine->second.mean[p] / plain.mean[p], 1, 1e-12);
      EXPECT_NEAR(mine->second.sd[p] / plain.sd[p], 1, 1e-5) << u << ' ' << p;
    }
  }
}

TEST(PriorsOfCommunities, an_upload_beyond_the_sums_is_the_same_error_on_all) {
  auto comm = Communicator::world();
  Federation f(8, 3);
  f.all.uploads[5].mean[1] = 1e20;
  const Owner owner = [&](std::int64_t client) { return static_cast<int>(client / 2) % comm.size(); };
  const AggregatorOptions options{Divergence::kW2, FixedPoint::one_word(40), 0};
  EXPECT_THROW(community_barycentres(comm, owner, f.communities, f.of(owner, comm.rank()), f.around, options),
               fedpp::mpi::Error);
}

TEST(PriorsOfCommunities, traffic_is_one_share_for_each_client_of_another_rank) {
  auto comm = Communicator::world();
  const Federation f(12, 6);
  const Owner owner = [&](std::int64_t client) { return static_cast<int>(client / 2) % comm.size(); };
  const auto mine = f.of(owner, comm.rank());
  (void)community_barycentres(comm, owner, f.communities, mine, f.around,
                              {Divergence::kKl, FixedPoint::one_word(40), 0});
  if (comm.size() > 1) {
    EXPECT_EQ(comm.ledger().entries().at("reduce communities").bytes, (12 - mine.size()) * 2 * 6 * 16);
  }
}

TEST(PriorsOfCommunities, clients_outside_the_graph_are_in_no_community) {
  Communities communities;
  communities.clients = {1, 4};
  communities.partition = {0, 1};
  EXPECT_EQ(community_of_each(communities, 6), (std::vector<std::int64_t>{-1, 0, -1, -1, 1, -1}));
}

INSTANTIATE_TEST_SUITE_P(Communities, OwnPriors,
                         testing::Values(Divergence::kKl, Divergence::kW2, Divergence::kFedavg, Divergence::kMmd),
                         reference::name_of);
}  // namespace
