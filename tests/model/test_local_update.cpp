// A participant's round: the same bits whoever shares its batch, failures that stay with their client, training that
// trains.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "gpu/cases.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/kept_block.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::LocalOptions;
using model::LocalReport;

LocalOptions quick() {
  LocalOptions o;
  o.training.epochs = 2;
  o.training.samples = 2;
  return o;
}

/// Two rounds of the clients numbered `ids`; the state and last report of the one numbered `wanted`.
std::pair<std::vector<double>, LocalReport> two_rounds(const std::vector<std::int64_t>& ids, std::int64_t wanted,
                                                       const LocalOptions& options) {
  std::vector<Client> clients;
  for (const auto id : ids) clients.push_back(test::small_client(id));
  std::vector<Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  const auto prior = test::small_prior();
  std::vector<LocalReport> reports;
  for (int round = 0; round < 2; ++round) reports = model::local_update(pointers, prior, options, 11, round);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    EXPECT_EQ(reports[k].client, ids[k]);
    EXPECT_FALSE(reports[k].failure.has_value()) << reports[k].failure.value_or("");
    if (ids[k] == wanted) return {test::state_of(clients[k]), reports[k]};
  }
  throw std::logic_error("not among the clients");
}

class Composition : public testing::TestWithParam<std::string> {
 protected:
  test::DenseChoice choice_{GetParam()};
};

TEST_P(Composition, a_clients_bits_do_not_depend_on_who_shares_its_batch) {
  for (const bool mini_batches : {false, true})
    for (const std::int64_t id : {3, 6}) {
      auto options = quick();
      if (mini_batches) {
        options.training.precision = config::Precision::kMixed;
        options.training.batch_realisations = 2;
        options.training.batch_points = 0.5;
      }
      const auto [alone, report] = two_rounds({id}, id, options);
      const auto same = [&](const char* what, const std::vector<std::int64_t>& ids, double workspace_mb) {
        auto other_options = options;
        other_options.workspace_mb = workspace_mb;
        const auto [other, other_report] = two_rounds(ids, id, other_options);
        EXPECT_EQ(other, alone) << what << ", client " << id << ", mini-batches " << mini_batches;
        EXPECT_EQ(other_report.elbo, report.elbo) << what;
        EXPECT_EQ(other_report.divergence, report.divergence) << what;
        EXPECT_EQ(other_report.jitter, report.jitter) << what;
      };
      same("again", {id}, 128);
      same("with others", {0, 1, 3, 6, 9}, 128);
      same("other order", {9, 6, 3, 1, 0}, 128);
      same("blocks of one", {0, 1, 3, 6, 9}, 1e-3);
      same("blocks of a few", {6, 0, 9, 1, 3}, 1);
    }
}

/// Rounds of changing participants, with the block of the round before where they are the same, or always a new one.
std::vector<double> rounds_of(const std::vector<std::vector<int>>& participants, gpu::EncoderKind kind,
                              const LocalOptions& options, model::KeptBlock* kept) {
  std::vector<Client> clients;
  for (const std::int64_t id : {3, 6, 9}) clients.push_back(test::history_client(id, kind));
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  std::vector<double> all;
  for (std::size_t round = 0; round < participants.size(); ++round) {
    std::vector<Client*> pointers;
    for (const int k : participants[round]) pointers.push_back(&clients[k]);
    for (const auto& report : model::local_update(pointers, prior, options, 11, round, {kept})) {
      EXPECT_FALSE(report.failure.has_value()) << report.failure.value_or("");
      all.insert(all.end(), {report.elbo, report.divergence, report.jitter});
    }
  }
  for (const auto& c : clients) {
    const auto state = test::state_of(c);
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

TEST_P(Composition, a_block_that_is_kept_gives_the_bits_of_a_new_one) {
  const std::vector<std::vector<int>> participants{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {2, 0}, {2, 0}, {0, 2}, {0, 1, 2}};
  for (const auto kind : {gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm, gpu::EncoderKind::kAttention})
    for (const bool mini_batches : {false, true}) {
      auto options = quick();
      options.workspace_mb = 128;
      if (mini_batches) {
        options.training.precision = config::Precision::kMixed;
        options.training.batch_realisations = 2;
        options.training.batch_points = 0.5;
      }
      const auto expected = rounds_of(participants, kind, options, nullptr);
      model::KeptBlock kept;
      EXPECT_EQ(rounds_of(participants, kind, options, &kept), expected) << mini_batches;
      options.workspace_mb = 1e-3;  // more blocks than one: nothing to keep
      EXPECT_EQ(rounds_of(participants, kind, options, &kept), expected) << mini_batches;
    }
}

TEST(KeptBlock, starts_as_a_new_one) {
  std::vector<Client> clients{test::small_client(3), test::small_client(6)};
  const auto prior = test::small_prior();
  auto options = quick();
  options.training.batch_realisations = 1;
  options.training.batch_points = 0.5;
  model::KeptBlock kept;
  std::vector<Client*> pointers;
  std::vector<model::ClientPoints> points;
  std::vector<model::WeightPosterior> weights;
  for (auto& c : clients) {
    pointers.push_back(&c);
    points.push_back({&c, &c.training});
  }
  (void)model::local_update(pointers, prior, options, 11, 0, {&kept});
  for (const auto& c : clients) weights.push_back(c.state.weights);
  const model::BatchOptions of_block{.samples = 2, .jitter = options.jitter, .with_gradient = true, .spread = true};
  const gpu::Fields& f = kept.of(points, weights, of_block).fields();
  const model::ClientBatch fresh(points, weights, of_block);
  const gpu::Fields& g = fresh.fields();
  const auto same = [](const char* what, const auto& a, const auto& b) {
    std::vector<typename std::decay_t<decltype(a)>::value_type> of_a, of_b;
    gpu::to_host(a, of_a);
    gpu::to_host(b, of_b);
    EXPECT_EQ(of_a, of_b) << what;
  };
  same("mean", f.mean, g.mean);
  same("sd", f.sd, g.sd);
  same("v_mean", f.v_mean, g.v_mean);
  same("v_factor", f.v_factor, g.v_factor);
  same("v_divergence", f.v_divergence, g.v_divergence);
  same("rate", f.rate, g.rate);
  same("offset", f.offset, g.offset);
  same("offset_center", f.offset_center, g.offset_center);
  same("tile_scale", f.tile_scale, g.tile_scale);
  same("step_taken", f.step_taken, g.step_taken);
  same("jitter", f.jitter, g.jitter);
  same("info", f.info, g.info);
  same("pivot", f.pivot, g.pivot);
  same("elbo", f.elbo, g.elbo);
  same("surrogate", f.surrogate, g.surrogate);
}

/// Single precision's 6e-8, a few hundredfold through L^-T; Adam's steps of 0.01 are signs where a gradient is small.
TEST_P(Composition, mixed_precision_is_near_double_and_not_the_same) {
  auto options = quick();
  const auto [exact, exact_report] = two_rounds({3}, 3, options);
  options.training.precision = config::Precision::kMixed;
  const auto [mixed, mixed_report] = two_rounds({3}, 3, options);
  EXPECT_NE(mixed, exact);
  test::expect_close(mixed, exact, 1e-3, "state");
  EXPECT_NEAR(mixed_report.elbo, exact_report.elbo, 1e-4 * std::fabs(exact_report.elbo));
}

INSTANTIATE_TEST_SUITE_P(implementations, Composition, testing::ValuesIn(test::dense_names()),
                         [](const auto& test) { return test.param; });

TEST(LocalUpdate, a_client_that_fails_keeps_its_state_says_why_and_harms_no_one) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto prior = test::small_prior();
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const auto [healthy_state, healthy_report] = two_rounds({3}, 3, quick());
    for (const std::string broken : {"an event", "a weight", "an sd", "a node weight", "log r", "a weight far out"}) {
      std::vector<Client> clients{test::small_client(1), test::small_client(3), test::small_client(2)};
      const std::vector<Client*> pointers{&clients[0], &clients[1], &clients[2]};
      ASSERT_FALSE(model::local_update(pointers, prior, quick(), 11, 0)[0].failure.has_value());
      auto& c = clients[0];
      if (broken == "an event") c.training[0].events[1] = nan;
      if (broken == "a node weight") c.training[0].node_weights[1] = nan;
      if (broken == "a weight") c.state.weights.mean[0] = nan;
      if (broken == "log r") c.state.weights.mean[c.state.weights.mean.size() - 2] = nan;
      if (broken == "a weight far out") c.state.weights.mean[0] = 1e9;  // finite, its divergence to the prior, too
      if (broken == "an sd") c.state.weights.sd[2] = nan;
      const auto before = c.state;
      const auto reports = model::local_update(pointers, prior, quick(), 11, 1);
      ASSERT_TRUE(reports[0].failure.has_value()) << broken;
      EXPECT_FALSE(reports[0].failure->empty());
      if (broken == "a weight" || broken == "log r") {
        EXPECT_NE(reports[0].failure->find("realisation 0, sample 0"), std::string::npos) << *reports[0].failure;
        EXPECT_NE(reports[0].failure->find("Cholesky"), std::string::npos) << *reports[0].failure;
      }
      if (broken == "a weight far out") {
        EXPECT_TRUE(std::isfinite(reports[0].elbo));
        EXPECT_NE(reports[0].failure->find("the ELBO is -"), std::string::npos) << *reports[0].failure;
      }
      Client as_before = test::small_client(1);
      as_before.state = before;
      const auto now = test::state_of(c), then = test::state_of(as_before);
      for (std::size_t i = 0; i < now.size(); ++i)
        EXPECT_TRUE(now[i] == then[i] || (std::isnan(now[i]) && std::isnan(then[i])));
      EXPECT_EQ(test::state_of(clients[1]), healthy_state) << "beside " << broken;
      EXPECT_FALSE(reports[1].failure.has_value());
      EXPECT_EQ(reports[1].elbo, healthy_report.elbo);
      EXPECT_FALSE(reports[2].failure.has_value());
    }
  }
}

TEST(LocalUpdate, a_step_of_adam_that_leaves_the_numbers_is_a_failure_too) {
  auto options = quick();
  options.training.epochs = 1;
  options.training.learning_rate = std::numeric_limits<double>::infinity();  // the ELBO before the step is finite
  Client c = test::small_client(1);
  const auto before = test::state_of(c);
  const auto reports = model::local_update({&c}, test::small_prior(), options, 11, 0);
  ASSERT_TRUE(reports[0].failure.has_value());
  EXPECT_NE(reports[0].failure->find("weight 0"), std::string::npos) << *reports[0].failure;
  EXPECT_EQ(test::state_of(c), before);
}

TEST(LocalUpdate, first_participation_starts_at_the_prior_and_continue_and_overwrite_differ) {
  auto options = quick();
  const auto prior = test::small_prior();
  auto moved = prior;
  for (double& r : moved.mean) r += 0.5;
  Client continued = test::small_client(2), overwritten = test::small_client(2);
  EXPECT_FALSE(continued.state.started);
  (void)model::local_update({&continued}, prior, options, 1, 0);
  (void)model::local_update({&overwritten}, prior, options, 1, 0);
  EXPECT_TRUE(continued.state.started);
  EXPECT_EQ(continued.state.steps, 2);
  for (std::size_t j = 0; j < prior.mean.size(); ++j)  // two steps of Adam from the prior
    EXPECT_NEAR(continued.state.weights.mean[j], prior.mean[j], 2.1 * options.training.learning_rate);
  const auto after_first = continued.state.weights.mean;
  (void)model::local_update({&continued}, moved, options, 1, 1);
  options.overwrite = true;
  (void)model::local_update({&overwritten}, moved, options, 1, 1);
  EXPECT_EQ(continued.state.steps, 4);
  EXPECT_EQ(overwritten.state.steps, 2);
  // A third and fourth step of Adam may be longer than the rate, whose first two cannot.
  for (std::size_t j = 0; j < prior.mean.size(); ++j) {
    EXPECT_NEAR(continued.state.weights.mean[j], after_first[j], 10 * options.training.learning_rate);
    EXPECT_NEAR(overwritten.state.weights.mean[j], moved.mean[j], 2.1 * options.training.learning_rate);
  }
}

TEST(LocalUpdate, rates_of_the_kernel_and_the_schedule_are_those_of_adam) {
  auto options = quick();
  options.training.epochs = 1;
  options.training.learning_rate = 1e-3;
  options.training.learning_rate_kernel = 2e-2;
  options.schedule = 0.5;
  const auto prior = test::small_prior();
  Client c = test::small_client(2);
  (void)model::local_update({&c}, prior, options, 1, 0);
  const std::size_t p = prior.mean.size();
  for (std::size_t j = 0; j < p; ++j)  // the first step's length is the rate
    EXPECT_NEAR(std::fabs(c.state.weights.mean[j] - prior.mean[j]), j < p - 2 ? 5e-4 : 1e-2, 1e-6) << j;
}

TEST(LocalUpdate, training_raises_the_elbo) {
  for (const bool mini_batches : {false, true}) {
    auto options = quick();
    options.training.epochs = 5;
    if (mini_batches) options.training.batch_realisations = 1;
    Client c = test::small_client(7);  // four realisations
    const auto prior = test::small_prior();
    double first = 0, last = 0;
    for (int round = 0; round < 20; ++round) {
      const auto report = model::local_update({&c}, prior, options, 3, round)[0];
      ASSERT_FALSE(report.failure.has_value()) << *report.failure;
      EXPECT_GE(report.divergence, 0);
      (round < 3 ? first : last) += round < 3 || round >= 17 ? report.elbo / 3 : 0;
    }
    EXPECT_GT(last, first + 1) << "mini-batches " << mini_batches;
    EXPECT_EQ(c.state.steps, mini_batches ? 400 : 100);
  }
}

/// Lists over one window share K(z,z); one over another window, or with a history, has its own.
TEST(Extents, share_inducing_points_over_the_same_window_only) {
  std::mt19937_64 engine(1);
  std::vector<data::Realisation> lists;
  for (int i = 0; i < 4; ++i) lists.push_back(test::random_realisation(engine, 5 + i, 10));
  lists[2].span = lists[3].span = {0, 90};
  const Client c = model::make_client(1, test::small_encoder(), lists, 6, 1.0);
  const auto shares = [](const Client& client) {
    std::vector<bool> found;
    for (const auto& extent : model::extents_of({&client, &client.training})) found.push_back(extent.shares_inducing);
    return found;
  };
  EXPECT_EQ(shares(c), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(shares(test::history_client(1, gpu::EncoderKind::kLstm)), std::vector<bool>(3, false));
}

TEST(LocalUpdate, a_client_without_points_stays_with_its_prior) {
  Client c = model::make_client(4, test::small_encoder(), {}, 5, 1.0);
  Client neighbour = test::small_client(3);
  auto options = quick();
  options.training.batch_realisations = 1;
  const auto prior = test::small_prior();
  const auto reports = model::local_update({&neighbour, &c}, prior, options, 3, 0);
  ASSERT_FALSE(reports[1].failure.has_value()) << *reports[1].failure;
  EXPECT_NEAR(reports[1].elbo, 0, 1e-12);
  EXPECT_EQ(c.state.steps, 2) << "one step an epoch, whatever its neighbour does";
  for (std::size_t j = 0; j < prior.mean.size(); ++j) EXPECT_DOUBLE_EQ(c.state.weights.mean[j], prior.mean[j]);
}

TEST(ClientBatch, spread_columns_are_the_same_points_in_another_order) {
  const Client c = test::small_client(7);
  const auto prior = test::small_prior();
  const model::ClientBatch plain({{&c, &c.training}}, {prior}, {.with_gradient = true}),
      spread({{&c, &c.training}}, {prior}, {.with_gradient = true, .spread = true});
  for (int i = 0; i < 4; ++i) {
    const auto points = [&](const model::ClientBatch& batch) {
      const auto time = test::host(batch.fields().input), count = test::host(batch.fields().multiplicity),
                 weight = test::host(batch.fields().node_weight);
      std::multiset<std::vector<double>> all;
      const auto from = static_cast<std::size_t>(batch.column_offset(i));
      for (std::size_t j = from; j < from + static_cast<std::size_t>(batch.columns(i)); ++j)
        all.insert({time[j], count[j], weight[j]});
      return all;
    };
    EXPECT_EQ(points(plain), points(spread));
  }
}

TEST(Blocks, hold_every_client_once_in_order_below_the_limit) {
  std::vector<Client> clients;
  for (int id = 0; id < 12; ++id) clients.push_back(test::small_client(id));
  std::vector<model::ClientPoints> points;
  for (const auto& c : clients) points.push_back({&c, &c.training});
  const model::BatchOptions options{.samples = 2, .with_gradient = true};
  EXPECT_EQ(model::blocks_of(points, options, 1e6).size(), 1u);
  EXPECT_EQ(model::blocks_of(points, options, 1e-6).size(), 12u);
  const auto blocks = model::blocks_of(points, options, 2);
  EXPECT_GT(blocks.size(), 1u);
  EXPECT_LT(blocks.size(), 12u);
  int next = 0;
  for (const auto& [first, last] : blocks) {
    EXPECT_EQ(first, next);
    EXPECT_LT(first, last);
    next = last;
  }
  EXPECT_EQ(next, 12);
}

}  // namespace
