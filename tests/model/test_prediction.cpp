// Predictions from a client's posterior: expectations, a known truth, parts and blocks; and the labels a profiler sees.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "config/error.hpp"
#include "gpu/averages.hpp"
#include "gpu/cases.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/expected_intensities.hpp"
#include "model/point_slices.hpp"
#include "model/prediction.hpp"
#include "model/simulated.hpp"

namespace {

using namespace fedpp;
using model::Client;
using model::PredictionOptions;

TEST(Predict, finds_a_simulated_truth) {
  for (const auto kind : {gpu::EncoderKind::kRbf, gpu::EncoderKind::kDeepKernel}) {
    const auto encoder = test::small_encoder(kind);
    const auto prior = model::initial_prior({}, encoder, 5);
    Client client = model::make_client(0, encoder, {test::simulated(3)}, 20, 1.0);
    model::LocalOptions options;
    options.training.epochs = 5;
    for (int round = 0; round < 6; ++round)
      ASSERT_FALSE(model::local_update({&client}, prior, options, 3, round)[0].failure.has_value());
    const auto state = test::state_of(client);
    data::Realisation grid;
    for (int i = 0; i < 200; ++i) grid.nodes.push_back(0.25 + 0.5 * i);
    grid.node_weights.assign(200, 0.5);
    const std::vector<data::Realisation> points{grid};
    PredictionOptions prediction_options;
    const auto p = model::predict({{&client, {&points}}}, prior, prediction_options)[0][0][0];
    EXPECT_EQ(test::state_of(client), state) << "predictions do not alter the client";
    ASSERT_EQ(p.expected_intensity.size(), 200u);
    double square = 0, mass = 0;
    int inside = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      const double lambda = test::truth(grid.nodes[i]);
      square += (p.expected_intensity[i] - lambda) * (p.expected_intensity[i] - lambda) / 200;
      mass += 0.5 * p.expected_intensity[i];
      inside +=
          model::intensity_quantile(p, i, 200, 0.05) < lambda && lambda < model::intensity_quantile(p, i, 200, 0.95);
      EXPECT_LT(p.expected_log_intensity[i], std::log(p.expected_intensity[i])) << "Jensen";
    }
    EXPECT_LT(std::sqrt(square), 0.8);
    EXPECT_GT(inside, 140);
    const double events = static_cast<double>(client.training[0].events.size());
    EXPECT_NEAR(mass, events, 4 * std::sqrt(events));
  }
}

class Requests : public testing::TestWithParam<std::pair<int, bool>> {};

/// With eight samples the E-steps of all clients but the fifth, whose are too large for it, are on averages over them.
TEST_P(Requests, sets_and_blocks_are_kept_to) {
  const auto [samples, bands] = GetParam();
  const auto prior = test::small_prior();
  std::mt19937_64 engine(8);
  std::vector<Client> clients;
  for (int id = 0; id < 4; ++id) clients.push_back(test::small_client(id));
  clients.push_back(model::make_client(4, test::small_encoder(), {test::random_realisation(engine, 300, 100)}, 60, 1));
  clients.push_back(test::small_client(5));
  (void)model::local_update({&clients[1], &clients[3]}, prior, {}, 3, 0);  // the others never took part
  const std::size_t count = clients.size();
  std::vector<std::vector<data::Realisation>> near(count), far(count);
  std::vector<model::ClientPointSets> requests;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < clients[k].inducing.size(); ++i) {
      near[k].push_back(test::random_realisation(engine, static_cast<int>(k), 4));
      far[k].push_back(test::random_realisation(engine, 0, i == 1 ? 0 : 3));
    }
    requests.push_back({&clients[k], {&near[k], &far[k]}});
  }
  PredictionOptions options;
  options.samples = samples;
  options.e_steps = 4;
  options.bands = bands;
  const auto together = model::predict(requests, prior, options);
  options.workspace_mb = 1e-3;
  const auto apart = model::predict(requests, prior, options);
  options.moments = false;
  const auto without_moments = model::predict(requests, prior, options);
  options.moments = true;
  ASSERT_EQ(together.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    ASSERT_EQ(together[k].size(), 2u);
    const auto alone = model::predict({requests[k]}, prior, options)[0];
    for (std::size_t set = 0; set < 2; ++set) {
      const auto& wanted = set == 0 ? near[k] : far[k];
      ASSERT_EQ(together[k][set].size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::size_t n = wanted[i].events.size() + wanted[i].nodes.size();
        const auto& p = together[k][set][i];
        EXPECT_EQ(p.expected_intensity.size(), n);
        EXPECT_EQ(p.mean.size(), samples * n);
        for (const auto& other : {apart[k][set][i], alone[set][i]}) {
          EXPECT_EQ(p.expected_log_intensity, other.expected_log_intensity);
          EXPECT_EQ(p.expected_intensity, other.expected_intensity);
          EXPECT_EQ(p.mean, other.mean);
          EXPECT_EQ(p.variance, other.variance);
          EXPECT_EQ(p.level_variance, other.level_variance);
          EXPECT_EQ(p.rate, other.rate);
        }
        EXPECT_EQ(p.expected_intensity, without_moments[k][set][i].expected_intensity);
        EXPECT_TRUE(without_moments[k][set][i].mean.empty() && without_moments[k][set][i].variance.empty());
        for (const double lambda : p.expected_intensity) EXPECT_TRUE(lambda > 0 && lambda < p.rate);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(samples, Requests,
                         testing::Values(std::pair{3, false}, std::pair{8, false}, std::pair{3, true},
                                         std::pair{8, true}),
                         [](const auto& info) {
                           return "of_" + std::to_string(info.param.first) + (info.param.second ? "_with_bands" : "");
                         });

TEST(Predict, long_windows_may_be_read_in_parts) {
  for (const auto kind : {gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kDecay, gpu::EncoderKind::kLstm,
                          gpu::EncoderKind::kAttention}) {
    const Client client = test::history_client(2, kind);
    const auto prior = model::initial_prior({}, test::small_encoder(kind), 5);
    std::vector<data::Realisation> points = client.training;
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto& r = points[i];
      r.nodes.clear();
      r.node_history.clear();
      const int nodes = i == 1 ? 1500 : 30;
      for (int q = 0; q < nodes; ++q) {
        r.nodes.push_back(100 * (q + 0.5) / nodes);
        const auto before = std::lower_bound(r.events.begin(), r.events.end(), r.nodes.back()) - r.events.begin();
        if (!r.streams.empty()) r.node_history.push_back({0, static_cast<int>(before)});
      }
      r.node_weights.assign(r.nodes.size(), 100.0 / nodes);
    }
    PredictionOptions options;
    options.samples = 3;
    options.e_steps = 3;
    options.bands = true;
    const auto whole = model::predict({{&client, {&points}}}, prior, options)[0][0];
    options.workspace_mb = 1e-3;  // by itself it cuts no realisation
    EXPECT_EQ(model::slices_of({{&client, &points}}, options).size(), points.size());
    options.part_bytes = 1e4;
    EXPECT_GT(model::slices_of({{&client, &points}}, options).size(), points.size());
    const auto parts = model::predict({{&client, {&points}}}, prior, options)[0][0];
    options.workspace_mb = 128;  // has room for all parts together; a realisation is read once in a slice all the same
    for (const auto& slice : model::slices_of({{&client, &points}}, options))
      for (std::size_t a = 1; a < slice.size(); ++a) EXPECT_NE(slice[a].realisation, slice[a - 1].realisation);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(whole[i].mean.size(), 3 * (points[i].events.size() + points[i].nodes.size()));
      test::expect_close(parts[i].expected_log_intensity, whole[i].expected_log_intensity, 1e-11, "log intensity");
      test::expect_close(parts[i].expected_intensity, whole[i].expected_intensity, 1e-11, "intensity");
      test::expect_close(parts[i].mean, whole[i].mean, 1e-11, "mean");
      test::expect_close(parts[i].variance, whole[i].variance, 1e-11, "variance");
      test::expect_close(parts[i].level_variance, whole[i].level_variance, 1e-11, "level");
      EXPECT_EQ(whole[i].rate, parts[i].rate);
    }
  }
}

TEST(ExpectedIntensities, are_means_over_a_normal_f_times_the_rate) {
  const std::vector<double> mean{-3, 0, 0.5, 4}, variance{0.3, 1, 2, 0.1};
  const double rate = 2.5;
  const auto expected = model::expected_intensities(mean, variance, rate);
  for (std::size_t n = 0; n < mean.size(); ++n) {
    double sum = 0, log_sum = 0, weights = 0;
    for (double z = -9; z <= 9; z += 1e-3) {
      const double weight = std::exp(-0.5 * z * z), f = mean[n] + std::sqrt(variance[n]) * z;
      sum += weight * rate / (1 + std::exp(-f));
      log_sum += weight * (std::log(rate) - std::log1p(std::exp(-f)));
      weights += weight;
    }
    EXPECT_NEAR(expected.intensity[n] / (sum / weights), 1, 1e-4) << n;
    EXPECT_NEAR(expected.log_intensity[n], log_sum / weights, 1e-4) << n;
  }
}

TEST(Predict, a_client_without_events_has_a_rate_below_half_an_event_and_above_a_twentieth) {
  std::mt19937_64 engine(3);
  const Client client =
      model::make_client(0, test::small_encoder(), {test::random_realisation(engine, 0, 100)}, 8, 1.0);
  const std::vector<data::Realisation> points{test::random_realisation(engine, 0, 10)};
  PredictionOptions options;
  options.e_steps = 200;
  const auto p = model::predict({{&client, {&points}}}, test::small_prior(), options)[0][0][0];
  for (const double lambda : p.expected_intensity) {
    EXPECT_LT(lambda, 0.5 / 100);
    EXPECT_GT(lambda, 0.05 / 100);
  }
}

TEST(Predict, a_factorisation_that_fails_for_any_sample_is_an_error_that_names_the_client) {
  const auto prior = test::small_prior();
  Client c = test::small_client(2);
  (void)model::local_update({&c}, prior, {}, 3, 0);
  // Wide enough that some samples of r leave the numbers and others do not: log r ~ N(0, 700^2).
  c.state.weights.sd[prior.sd.size() - 2] = 700;
  data::Realisation one;
  one.nodes = {50};
  one.node_weights = {100};
  const std::vector<data::Realisation> points(c.inducing.size(), one);
  PredictionOptions options;
  options.e_steps = 1;
  int only_later = 0;
  const auto failure = [&](int samples) -> std::string {
    options.samples = samples;
    try {
      const auto predictions = model::predict({{&c, {&points}}}, prior, options);
      for (const auto& r : predictions[0][0])
        for (const double lambda : r.expected_intensity) EXPECT_TRUE(std::isfinite(lambda)) << "hidden";
      return {};
    } catch (const UserError& error) {
      return error.what();
    }
  };
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    if (!failure(1).empty()) continue;
    const auto text = failure(8);  // the same first sample
    if (text.empty()) continue;
    EXPECT_NE(text.find("client 2"), std::string::npos) << text;
    only_later += text.find("Cholesky") != std::string::npos;
  }
  EXPECT_GT(only_later, 0);
}

// ---- profiling

std::set<std::string>& labels_seen() {
  static std::set<std::string> labels;
  return labels;
}
void record(const char* label, const std::uint32_t, std::uint64_t* kernel) {
  labels_seen().insert(label);
  *kernel = 0;
}

/// Runs `work`; labels_seen() are then the kernels that it launched.
template <class F>
void record_kernels(const F& work) {
  namespace tools = Kokkos::Tools::Experimental;
  labels_seen().clear();
  tools::set_begin_parallel_for_callback(record);
  tools::set_begin_parallel_reduce_callback(record);
  tools::set_begin_parallel_scan_callback(record);
  work();
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
}

TEST(Predict, takes_averages_over_the_weights_where_they_pay) {
  std::mt19937_64 engine(8);
  const Client small = test::small_client(0),
               large =
                   model::make_client(4, test::small_encoder(), {test::random_realisation(engine, 300, 100)}, 60, 1);
  struct Case {
    const Client& client;
    int samples, e_steps;
    bool averaged;
  };
  for (const auto& c : {Case{small, 8, 4, true}, {small, 3, 4, false}, {small, 8, 3, false}, {large, 8, 4, false}}) {
    SCOPED_TRACE(std::to_string(c.samples) + " samples, " + std::to_string(c.e_steps) + " steps");
    PredictionOptions options;
    options.samples = c.samples;
    options.e_steps = c.e_steps;
    record_kernels([&] { (void)model::predict({{&c.client, {&c.client.training}}}, test::small_prior(), options); });
    if (labels_seen().empty()) GTEST_SKIP() << "this Kokkos was built without its tools interface";
    EXPECT_EQ(labels_seen().contains("fedpp::averages::moments"), c.averaged);
    EXPECT_EQ(labels_seen().contains("fedpp::variational::accumulate"), !c.averaged);
  }
}

TEST(Predict, room_for_averages_is_counted) {
  const Client client = test::small_client(3);
  const std::vector<data::Realisation> none(client.training.size());
  const model::ClientPoints training{&client, &client.training};
  double averages = 0;
  for (const auto& extent : model::extents_of(training))
    averages += static_cast<double>(gpu::average_doubles(extent) * sizeof(double));
  PredictionOptions options;
  options.samples = 8;
  const double trained = model::array_bytes({&training, 1}, {.samples = options.samples});
  options.e_steps = 3;
  EXPECT_LT(model::prediction_bytes({&client, {&none}}, options), trained + averages);
  options.e_steps = 4;
  EXPECT_GE(model::prediction_bytes({&client, {&none}}, options), trained + averages);
}

TEST(Profiling, every_kernel_is_labelled_by_component_and_step) {
  Client c = test::small_client(3);
  model::LocalOptions options;
  options.training.batch_realisations = 1;
  record_kernels([&] {
    (void)model::local_update({&c}, test::small_prior(), options, 3, 0);
    (void)model::predict({{&c, {&c.training}}}, test::small_prior(), {});
  });
  if (labels_seen().empty()) GTEST_SKIP() << "this Kokkos was built without its tools interface";
  const std::regex ours("fedpp::[a-z_]+::[a-z_]+"), theirs("Kokkos::.*");  // fills and copies are Kokkos' own
  int kernels = 0;
  for (const auto& label : labels_seen()) {
    kernels += std::regex_match(label, ours);
    EXPECT_TRUE(std::regex_match(label, ours) || std::regex_match(label, theirs)) << label;
  }
  EXPECT_GE(kernels, 15);
}

TEST(Predict, draws_weights_by_its_seed) {
  const Client client = test::small_client(2);
  const auto rate = [&](std::uint64_t seed) {
    PredictionOptions options;
    options.seed = seed;
    return model::predict({{&client, {&client.training}}}, test::small_prior(), options)[0][0][0].rate;
  };
  EXPECT_EQ(rate(4), rate(4));
  EXPECT_NE(rate(4), rate(5));
}

}  // namespace
