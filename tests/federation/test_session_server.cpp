// What a session's server and graph make of its clients' uploads, and what rounds leave, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "federation/adaptation.hpp"
#include "federation/checkpoint.hpp"
#include "federation/communities.hpp"
#include "federation/personal_priors.hpp"
#include "federation/round_recorder.hpp"
#include "federation/server.hpp"
#include "federation/uploads.hpp"
#include "small_federation.hpp"

namespace {

using namespace fedpp;
using federation::KeptState;
using test::events_of;
using test::Federation;
using test::length_of;

TEST(EventShares, are_of_the_training_events) {
  Federation federation;
  auto& session = federation.session();
  double all = 0;
  for (const auto& client : session.owned()) all += events_of(client.data, data::kTrain);
  const auto shares = federation::event_shares(session);
  for (const auto& client : session.owned())
    EXPECT_DOUBLE_EQ(shares[client.data.id], events_of(client.data, data::kTrain) / all);
}

TEST(RoundRecorder, tells_what_an_elbo_gains_on_a_constant_rate) {
  Federation federation;
  auto& session = federation.session();
  auto state = federation.started();
  federation::Phases phases;
  phases.time("local update", [] {});
  std::vector<model::LocalReport> reports;
  double gained = 0, events = 0;
  for (const auto& client : session.owned()) {
    const double elbo = -10.0 - static_cast<double>(client.data.id), n = events_of(client.data, data::kTrain),
                 time = length_of(client.data, data::kTrain) * session.plan().clock.scale;
    reports.push_back({client.data.id, elbo, 0, 0, 0, std::nullopt});
    gained += elbo - (n * std::log(n / time) - n);
    events += n;
  }
  federation::RoundRecorder(session, state, federation.progress(), phases)
      .record({0, federation.all(), reports, {}, {}, -1, nullptr});
  const auto rounds = nlohmann::json::parse(state.rounds.text());
  EXPECT_NEAR(rounds[0]["elbo_gain"], gained / events, 1e-9);
}

/// Each client's posterior as its upload.
std::map<std::int64_t, model::WeightPosterior> uploads_of(const federation::Session& session) {
  std::map<std::int64_t, model::WeightPosterior> uploads;
  for (const auto& client : session.owned()) uploads[client.data.id] = client.model.state.weights;
  return uploads;
}

/// A round in which every client sent its posterior.
federation::LocalOutcome outcome_of(const federation::Session& session) {
  federation::LocalOutcome outcome{{}, uploads_of(session)};
  for (const auto& client : session.owned()) outcome.reports.push_back({client.data.id, -1, 0, 0, 0, std::nullopt});
  return outcome;
}

TEST(Server, weighs_uploads_alike_or_by_their_training_events) {
  for (const auto weights : {config::UploadWeights::kUniform, config::UploadWeights::kEvents}) {
    Federation federation([&](config::Config& config) {
      config.aggregation.weights = weights;
      config.aggregation.divergence = config::Divergence::kFedavg;
      config.data.local_fraction = 0.5;  // clients of unlike numbers of events
    });
    auto& session = federation.session();
    auto state = federation.started();
    auto outcome = outcome_of(session);
    std::vector<double> mean(session.parameters(), 0.0);
    double all = 0;
    for (const auto& client : session.owned()) {
      const double weight = weights == config::UploadWeights::kEvents ? events_of(client.data, data::kTrain) : 1;
      for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += weight * client.model.state.weights.mean[p];
      all += weight;
    }
    federation::Server server(session, state, federation.progress());
    EXPECT_TRUE(server.aggregate(outcome, 0).empty());
    for (std::size_t p = 0; p < mean.size(); ++p) EXPECT_NEAR(state.theta.common.mean[p], mean[p] / all, 1e-9) << p;
  }
}

TEST(Server, gets_to_see_what_a_hostile_client_makes_of_its_upload) {
  Federation federation([](config::Config& config) {
    config.aggregation.divergence = config::Divergence::kFedavg;
    config.attack.kind = config::AttackKind::kScaled;
    config.attack.share = 0.34;
    config.attack.strength = 10;
  });
  auto& session = federation.session();
  auto state = federation.started();
  const auto before = state.theta.common;
  auto outcome = outcome_of(session);
  std::vector<double> mean(session.parameters(), 0.0);
  for (const auto& [client, upload] : outcome.uploads)
    for (std::size_t p = 0; p < mean.size(); ++p)
      mean[p] += (before.mean[p] + (session.hostile(client) ? 10 : 1) * (upload.mean[p] - before.mean[p])) / 3;
  federation::Server server(session, state, federation.progress());
  EXPECT_TRUE(server.aggregate(outcome, 0).empty());
  for (std::size_t p = 0; p < mean.size(); ++p) EXPECT_NEAR(state.theta.common.mean[p], mean[p], 1e-9) << p;
}

TEST(Server, lets_a_client_whose_posterior_it_rejects_begin_anew) {
  Federation federation;
  auto& session = federation.session();
  auto state = federation.started();
  session.owned(1).model.state.weights.sd[2] = 0;
  auto outcome = outcome_of(session);
  outcome.uploads.at(2).mean[0] = 1e300;  // not what it has: tampered with, or a model that is not scored
  federation::Server server(session, state, federation.progress());
  const auto left_out = server.aggregate(outcome, 0);
  ASSERT_EQ(left_out.size(), 2u);
  for (const auto& client : session.owned()) EXPECT_EQ(client.model.state.started, client.data.id != 1);
  EXPECT_EQ(outcome.uploads.count(1) + outcome.uploads.count(2), 0u);
}

TEST(Server, keeps_the_bandwidth_that_it_found_in_the_uploads) {
  Federation federation([](config::Config& config) { config.aggregation.divergence = config::Divergence::kMmd; });
  auto& session = federation.session();
  auto state = federation.started();
  auto outcome = outcome_of(session);
  std::vector<double> deviations;  // from the mean of the three
  for (std::size_t p = 0; p < session.parameters(); ++p) {
    double mean = 0;
    for (const auto& [client, upload] : outcome.uploads) mean += upload.mean[p] / 3;
    for (const auto& [client, upload] : outcome.uploads) deviations.push_back(std::fabs(upload.mean[p] - mean));
  }
  std::ranges::sort(deviations);
  federation::Server server(session, state, federation.progress());
  server.aggregate(outcome, 0);
  EXPECT_NEAR(state.bandwidth, std::sqrt(2.0) * deviations[(deviations.size() + 1) / 2 - 1], 1e-9);
}

TEST(LastUploads, are_the_initial_distribution_where_a_client_sent_nothing) {
  Federation federation;
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  kept[2] = {0, uploads_of(session).at(2)};
  const auto sent = federation::last_uploads(session, kept);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1].mean, session.initial_prior().mean);
  EXPECT_EQ(sent[1].sd, session.initial_prior().sd);
  EXPECT_EQ(sent[2].mean, kept.at(2).posterior.mean);
  EXPECT_EQ(sent[2].sd, kept.at(2).posterior.sd);
}

TEST(Session, moves_training_events_of_hostile_clients_alone) {
  Federation plain, attacked([](config::Config& config) {
    config.attack.kind = config::AttackKind::kReplacedEvents;
    config.attack.share = 0.34;
    config.attack.strength = 1;
  });
  ASSERT_EQ(attacked.session().hostile().size(), 1u);
  for (const auto& client : plain.session().owned()) {
    const auto& other = attacked.session().owned(client.data.id).data;
    for (std::size_t s = 0; s < client.data.sequences.size(); ++s)
      EXPECT_EQ(other.sequences[s].events[data::kTrain] == client.data.sequences[s].events[data::kTrain],
                !attacked.session().hostile(client.data.id));
  }
}

TEST(Session, has_the_scale_of_all_clients_gaps) {
  Federation federation([](config::Config& config) { config.model.encoder = config::Encoder::kDecay; });
  auto& session = federation.session();
  double n = 0, sum = 0, squares = 0;
  for (const auto& client : session.owned())
    for (const auto& s : client.data.sequences)
      for (std::size_t j = 1; j < s.times.size() && s.times[j] <= s.windows[data::kTrain].back().end; ++j) {
        const double x = std::log(session.plan().clock.scale * (s.times[j] - s.times[j - 1]));
        n += 1;
        sum += x;
        squares += x * x;
      }
  EXPECT_NEAR(session.rules().gaps.mean, sum / n, 1e-9);
  EXPECT_NEAR(session.rules().gaps.sd, std::sqrt(squares / n - sum / n * sum / n), 1e-9);
}

TEST(ContinueClients, take_weights_and_priors_of_their_own_from_the_state_that_is_wanted) {
  Federation federation;
  auto& session = federation.session();
  const auto folder = std::filesystem::temp_directory_path() / ("fedpp_session_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  auto state = federation.started();
  state.next_round = 3;
  state.stopping.best_round = 1;
  state.best_theta = state.theta;
  const auto moved = [](model::WeightPosterior posterior, double by) {
    for (double& r : posterior.mean) r += by;
    return posterior;
  };
  const auto last = uploads_of(session);
  state.theta.own[1] = moved(last.at(1), 0.1);
  state.best_theta.own[1] = moved(last.at(1), 0.2);
  for (const auto& client : session.owned()) {
    auto best = client.model.state;
    best.weights = moved(best.weights, 0.3);
    state.best_clients[client.data.id] = best;
  }
  state.uploads[1] = {2, moved(last.at(1), 0.4)};
  federation::write_checkpoint(session, state, folder.string(), 1);
  const auto header = federation::read_header((folder / "checkpoint-000003.h5").string(),
                                              federation::ReadFor::kAdaptation, session.world());
  for (const auto wanted : {KeptState::kLast, KeptState::kBest}) {
    const auto read = federation::continue_clients(session, header, wanted);
    EXPECT_EQ(read.next_round, 3);
    EXPECT_EQ(read.theta.own.size(), 1u);
    ASSERT_EQ(read.uploads.size(), 1u);  // of a round after the best one: that state's is its weights
    EXPECT_EQ(read.uploads.at(1).posterior.mean, moved(last.at(1), wanted == KeptState::kBest ? 0.3 : 0.4).mean);
    EXPECT_EQ(read.theta.own.at(1).mean, (wanted == KeptState::kBest ? state.best_theta : state.theta).own.at(1).mean);
    for (const auto& client : session.owned())
      EXPECT_EQ(client.model.state.weights.mean,
                wanted == KeptState::kBest ? moved(last.at(client.data.id), 0.3).mean : last.at(client.data.id).mean);
  }
  std::filesystem::remove_all(folder);
}

TEST(ClientGraph, convolutes_uploads_by_the_rows_of_the_positive_similarities) {
  Federation federation([](config::Config& config) {
    config.data.clients = 4;
    config.aggregation.scope = config::Scope::kSimilarityGraph;
    config.aggregation.similarity = config::Similarity::kCentredGram;
  });
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  for (const auto& [client, posterior] : uploads_of(session)) kept[client] = {0, posterior};
  const auto graph = federation::ClientGraph(session).update(kept);
  ASSERT_EQ(graph.clients, federation.all());
  double least = 1, most = 0;
  for (std::size_t u = 0; u < 4; ++u) {
    double degree = 0;
    for (std::size_t v = 0; v < 4; ++v) degree += graph.weights[4 * u + v];
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_NEAR(graph.alpha[4 * u + v], ((u == v ? 1 : 0) + graph.weights[4 * u + v]) / (1 + degree), 1e-14);
    least = std::min(least, degree / 3);
    most = std::max(most, degree / 3);
  }
  EXPECT_GT(most - least, 1e-6) << "equal degrees: the test tests little";
}

TEST(ClientGraph, is_of_the_uploads_last_sent) {
  Federation federation([](config::Config& config) { config.aggregation.scope = config::Scope::kSimilarityGraph; });
  auto& session = federation.session();
  federation.started();
  federation::KeptUploads kept;
  for (const auto& [client, posterior] : uploads_of(session)) kept[client] = {0, posterior};
  federation::ClientGraph graph(session);
  const auto first = graph.update(kept).weights;
  for (double& r : kept[1].posterior.mean) r *= -0.5;
  kept[1].round = 1;
  const auto second = graph.update(kept).weights;
  EXPECT_NE(first, second);
  EXPECT_EQ(second, federation::ClientGraph(session).update(kept).weights);
}

TEST(PersonalPriors, forget_an_upload_after_so_many_rounds) {
  Federation federation([](config::Config& config) {
    config.aggregation.scope = config::Scope::kStructuralEntropy;
    config.aggregation.keep_uploads = 2;
  });
  auto& session = federation.session();
  auto state = federation.started();
  federation::PersonalPriors priors(session);
  auto uploads = uploads_of(session);
  const federation::AggregatorOptions options{.rule = session.config().aggregation.divergence};
  EXPECT_EQ(priors.update(state, uploads, 0, options).clients, (std::vector<std::int64_t>{0, 1, 2}));
  uploads.erase(1);
  EXPECT_EQ(priors.update(state, uploads, 2, options).clients, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(state.theta.own.count(1), 1u);
  EXPECT_EQ(priors.update(state, uploads, 3, options).clients, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(state.theta.own.count(1), 0u) << "back to the common prior";
}

TEST(PersonalPriors, of_mmd_are_of_the_bandwidth_that_the_common_prior_has) {
  Federation federation([](config::Config& config) {
    config.aggregation.scope = config::Scope::kSimilarityGraph;
    config.aggregation.divergence = config::Divergence::kMmd;
  });
  auto& session = federation.session();
  std::vector<model::WeightPosterior> found;
  for (const double bandwidth : {0.01, 10.0}) {
    auto state = federation.started();
    state.bandwidth = bandwidth;
    const federation::AggregatorOptions options{.rule = config::Divergence::kMmd};  // 0: as every aggregation finds it
    federation::PersonalPriors(session).update(state, uploads_of(session), 0, options);
    found.push_back(state.theta.own.at(1));
  }
  EXPECT_NE(found[0].mean, found[1].mean);
}

TEST(SimilarityProbe, is_of_ordered_times_all_over_the_window) {
  Federation federation;
  const auto probe = federation::similarity_probe(federation.session(), 200);
  ASSERT_EQ(probe.nodes.size(), 200u);
  EXPECT_TRUE(std::ranges::is_sorted(probe.nodes));
  const double window = federation.session().plan().clock.window;
  EXPECT_GT(probe.nodes.front(), 0);
  EXPECT_LT(probe.nodes.back(), window);
  double mean = 0;
  for (const double t : probe.nodes) mean += t / 200;
  EXPECT_NEAR(mean, window / 2, 4 * window / std::sqrt(12.0 * 200));
}

/// Log-normal gaps as those of the clients, and points after every fourth event, before the next one.
TEST(SimilarityProbe, is_of_streams_like_the_clients) {
  Federation federation([](config::Config& config) { config.model.encoder = config::Encoder::kLstm; });
  const auto probe = federation::similarity_probe(federation.session(), 40001);
  const auto& gaps = federation.session().rules().gaps;
  ASSERT_EQ(probe.nodes.size(), 40001u);
  ASSERT_EQ(probe.streams.size(), 5001u);
  EXPECT_NE(probe.streams[0].times, probe.streams[1].times);
  double n = 0, sum = 0, squares = 0, behind = 0, sum_behind = 0;
  for (const auto& stream : probe.streams)
    for (std::size_t j = 1; j < stream.times.size(); ++j) {
      const double x = std::log(stream.times[j] - stream.times[j - 1]);
      n += 1, sum += x, squares += x * x;
    }
  EXPECT_NEAR(sum / n, gaps.mean, 5 * gaps.sd / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - sum / n * sum / n), gaps.sd, 5 * gaps.sd / std::sqrt(2 * n));
  for (std::size_t p = 0; p < probe.nodes.size(); ++p) {
    const auto& [stream, before] = probe.node_history[p];
    EXPECT_EQ(stream, static_cast<int>(p / 8));
    EXPECT_EQ(before, 4 * static_cast<int>(p % 8 + 1));
    const auto& times = probe.streams[stream].times;
    EXPECT_GT(probe.nodes[p], times[before - 1]);
    if (before < static_cast<int>(times.size())) {
      EXPECT_LE(probe.nodes[p], times[before]);
    } else {
      behind += 1, sum_behind += std::log(probe.nodes[p] - times.back());
    }
  }
  EXPECT_NEAR(sum_behind / behind, gaps.mean, 5 * gaps.sd / std::sqrt(behind));
}

}  // namespace
