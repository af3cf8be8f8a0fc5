// Event-centric alignment: its value against plain loops over the events, its gradient against finite differences of
// those, for encoders with and without history, ties of two types and mini-batches; its strength; what a round does.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "gpu/cases.hpp"
#include "model/alignment.hpp"
#include "model/clients.hpp"
#include "model/e_steps.hpp"
#include "model/frozen_prediction.hpp"

namespace {

using namespace fedpp;
using model::Client;
using test::host;
using Vector = std::vector<double>;

std::vector<model::ClientPoints> points_of(const std::vector<Client>& clients) {
  std::vector<model::ClientPoints> points;
  for (const auto& c : clients) points.push_back({&c, &c.training});
  return points;
}

/// Clients of unlike sizes whose events have types 2, 9 and in their first realisation 5 (one client: 2 alone), every
/// fourth event being a tie of two types; the last realisation of one client has no events. Several tiles where the
/// backend's are short enough.
std::vector<Client> marked_clients(gpu::EncoderKind kind) {
  std::vector<Client> clients;
  for (const int id : {1, 4, 2}) {
    config::Model model;
    model.encoder = *config::from_word<config::Encoder>(gpu::encoder_family(kind).name());
    model.width = 5;
    const bool typed = config::reads_types(model);
    model.type_embedding = typed ? 2 : 0;
    auto c = test::history_client(id, kind);
    std::mt19937_64 engine(static_cast<std::uint64_t>(id));
    if (id == 4 && !c.embedding.reads_history()) c.training[0] = test::random_realisation(engine, 600, 40);
    if (id == 2 && !c.embedding.reads_history()) c.training.back() = test::random_realisation(engine, 0, 40);
    const auto any = [&](int below) { return std::uniform_int_distribution<int>(0, below - 1)(engine); };
    const int types[] = {2, 9, 5};
    for (auto& r : c.training) {
      const int kinds = &r == c.training.data() ? 3 : 2;
      for (int j = 0; j < static_cast<int>(r.events.size()); ++j) {
        const int first = id == 1 ? 0 : any(kinds);
        r.marks.push_back({j, types[first], 1.0 + any(2)});
        if (j % 4 == 3 && id != 1) r.marks.push_back({j, types[first] == 9 ? 2 : 9, 0.5});
        double all = 0;
        for (const auto& m : r.marks) all += m.event == j ? m.count : 0;
        r.multiplicities[j] = all;
        if (!r.streams.empty()) r.streams[0].types[j] = types[first];
      }
    }
    clients.push_back(model::make_client(c.id, model::make_embedding(model, {}, {}, 10), c.training, 7, 1.0));
  }
  return clients;
}

Vector normals(std::mt19937_64& engine, std::size_t n, double mean = 0, double sd = 1) {
  std::normal_distribution<double> normal(mean, sd);
  Vector x(n);
  for (double& value : x) value = normal(engine);
  return x;
}

/// A batch under posteriors of no special meaning, after an E-step; the noise of its draw.
struct Prepared {
  std::vector<Client> clients;
  std::vector<model::ClientPoints> points;
  int samples = 2;
  model::Priors received;
  std::unique_ptr<model::ClientBatch> block;
  Vector strength{7.0, 1.5, 30.0};
  gpu::Alignment alignment;
  gpu::DrawKey key{5, 0, 0, 0};
  gpu::Exec exec;

  explicit Prepared(gpu::EncoderKind kind, bool spread = false, bool agree = false)
      : clients(marked_clients(kind)), points(points_of(clients)) {
    std::mt19937_64 engine(9);
    const auto p = static_cast<std::size_t>(clients[0].embedding.encoder.parameters);
    std::vector<model::WeightPosterior> own;
    for (const auto& c : clients) {
      model::WeightPosterior w{normals(engine, p, 0, 0.5), Vector(p, 0.1)};
      own.push_back(w);
      if (!agree) w = {normals(engine, p, 0, 0.5), Vector(p, 0.2)};
      received.own[c.id] = w;
    }
    block = std::make_unique<model::ClientBatch>(
        points, own, model::BatchOptions{.samples = samples, .jitter = 1e-4, .with_gradient = true, .spread = spread});
    alignment = model::make_alignment(*block, points, received, strength);
    gpu::embed_received(exec, b(), f(), block->encoder(), alignment, key);
    gpu::draw_weights(exec, b(), f(), key);
    forward();
    model::e_steps(exec, b(), f(), 1);
  }

  const gpu::Batch& b() const { return block->batch(); }
  const gpu::Fields& f() const { return block->fields(); }
  void forward() const {
    gpu::embed(exec, b(), f(), block->encoder());
    gpu::factorise(exec, b(), f());
    gpu::features(exec, b(), f());
  }
  Vector gradient(const gpu::Alignment* with) const {
    forward();
    gpu::adjoint(exec, b(), block->chunks(), f(), block->encoder(), with);
    return host(f().gradient);
  }
  Vector embedding_under(const Vector& weights) const {
    Kokkos::deep_copy(f().weights, gpu::to_device<double>("w", weights));
    gpu::embed(exec, b(), f(), block->encoder());
    return host(f().embedding);
  }
  /// mu + sigma eps of the received models.
  Vector received_weights() const {
    const auto noise = host(f().noise);
    Vector w;
    for (const auto& c : clients)
      for (int s = 0; s < samples; ++s)
        for (std::size_t j = 0; j < received.of(c.id).mean.size(); ++j)
          w.push_back(received.of(c.id).mean[j] + received.of(c.id).sd[j] * noise[w.size()]);
    return w;
  }

  /// The term of each (client, sample), times strength: loops over every event.
  Vector terms(const Vector& own, const Vector& theirs) const {
    const auto scale = host(f().tile_scale), multiplicity = host(f().multiplicity);
    const auto tile_begin = host(b().tile_begin), tile_first = host(b().tile_first);
    Vector result;
    for (std::size_t k = 0; k < clients.size(); ++k) {
      const int d = clients[k].embedding.encoder.dimension;
      for (int s = 0; s < samples; ++s) {
        std::map<int, std::pair<Vector, double>> by_type;
        for (int i = block->realisation_begin(static_cast<int>(k));
             i < block->realisation_begin(static_cast<int>(k) + 1); ++i) {
          const auto& r =
              clients[k].training[static_cast<std::size_t>(i - block->realisation_begin(static_cast<int>(k)))];
          const auto at_columns = block->points_at_columns(i);
          const auto h = static_cast<std::size_t>(host(b().embedding)[static_cast<std::size_t>(i * samples + s)]);
          int tile = tile_begin[i];
          for (int j = 0; j < block->columns(i); ++j) {
            while (tile + 1 < tile_begin[i + 1] && tile_first[tile + 1] <= j) ++tile;
            double all = 0;
            for (const auto& mark : r.marks) {
              if (mark.event != at_columns[j]) continue;
              all += mark.count;
              auto& [sum, count] = by_type[mark.type];
              sum.resize(d);
              const double a = scale[tile] * mark.count;
              count += a;
              for (int row = 0; row < d; ++row)
                sum[row] += a * (own[h + static_cast<std::size_t>(j * d + row)] -
                                 theirs[h + static_cast<std::size_t>(j * d + row)]);
            }
            EXPECT_DOUBLE_EQ(all, multiplicity[static_cast<std::size_t>(block->column_offset(i) + j)]);
          }
        }
        double total = 0, types = 0;
        for (const auto& [type, part] : by_type) {
          if (part.second == 0) continue;
          double square = 0;
          for (const double x : part.first) square += x * x;
          total += std::sqrt(square) / part.second;
          ++types;
        }
        result.push_back(types > 0 ? strength[k] * total / types : 0);
      }
    }
    return result;
  }
};

class Alignment : public testing::TestWithParam<gpu::EncoderKind> {};

TEST_P(Alignment, value_and_gradient_are_those_of_plain_loops) {
  for (const auto& name : test::dense_names())
    for (const int mini_batch : {-1, 0, 1, 2}) {  // none; of two realisations and half of their points
      const test::DenseChoice choice(name);
      const Prepared p(GetParam(), mini_batch >= 0);
      if (mini_batch >= 0) {
        auto step = p.key;
        step.step = static_cast<std::uint32_t>(mini_batch);
        gpu::select_batch(p.exec, p.b(), p.f(), step, 2, 0.6);
      }
      const auto plain = p.gradient(nullptr), aligned = p.gradient(&p.alignment);
      const auto own = host(p.f().weights);
      const auto theirs = p.embedding_under(p.received_weights());
      const auto at_own = p.terms(p.embedding_under(own), theirs);
      const auto value = host(p.alignment.value);
      for (std::size_t k = 0; k < p.clients.size(); ++k) {
        EXPECT_TRUE(at_own[2 * k] > 0 || mini_batch >= 0);  // one may be without events
        EXPECT_NEAR(value[k], 0.5 * (at_own[2 * k] + at_own[2 * k + 1]), 1e-11 * value[k]);
      }
      std::mt19937_64 engine(3);
      const auto size = own.size() / at_own.size();  // P, the same for all
      for (int direction = 0; direction < 4; ++direction) {
        const auto e = normals(engine, own.size());
        constexpr double kStep = 1e-6;
        auto up = own, down = own;
        for (std::size_t j = 0; j < own.size(); ++j) {
          up[j] += kStep * e[j];
          down[j] -= kStep * e[j];
        }
        const auto above = p.terms(p.embedding_under(up), theirs), below = p.terms(p.embedding_under(down), theirs);
        for (std::size_t problem = 0; problem < at_own.size(); ++problem) {  // (client, sample)
          double got = 0, length = 0;
          for (std::size_t j = problem * size; j < (problem + 1) * size; ++j) {
            got -= (aligned[j] - plain[j]) * e[j];
            length += (aligned[j] - plain[j]) * (aligned[j] - plain[j]);
          }
          EXPECT_NEAR(got, (above[problem] - below[problem]) / (2 * kStep), 1e-6 * std::sqrt(length) + 1e-9)
              << problem << ", mini-batch " << mini_batch;
          EXPECT_EQ(length > 0, at_own[problem] > 0);
        }
      }
      // log r and log l do not see the term.
      for (std::size_t problem = 0; problem < at_own.size(); ++problem)
        for (const std::size_t j : {size - 2, size - 1})
          EXPECT_EQ(aligned[problem * size + j], plain[problem * size + j]);
    }
}

TEST_P(Alignment, where_the_models_agree_there_is_no_term_and_no_gradient) {
  const Prepared p(GetParam(), false, /*agree=*/true);
  EXPECT_EQ(p.gradient(&p.alignment), p.gradient(nullptr));
  EXPECT_EQ(host(p.alignment.value), Vector(3, 0.0));
}

INSTANTIATE_TEST_SUITE_P(encoders, Alignment,
                         testing::Values(gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm,
                                         gpu::EncoderKind::kAttention, gpu::EncoderKind::kDecay),
                         [](const auto& info) {
                           std::string name = gpu::encoder_family(info.param).name();
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

/// Two rounds against a prior whose mean moves in between.
std::pair<std::vector<Vector>, std::vector<model::LocalReport>> two_rounds(std::vector<Client> clients,
                                                                           const model::LocalOptions& options,
                                                                           double moved = 0.3) {
  std::vector<Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  auto prior = model::initial_prior({}, clients[0].embedding, 5);
  std::vector<model::LocalReport> reports;
  for (int round = 0; round < 2; ++round) {
    reports = model::local_update(pointers, prior, options, 11, round);
    for (double& r : prior.mean) r += moved;
  }
  std::vector<Vector> states;
  for (const auto& c : clients) states.push_back(test::state_of(c));
  return {states, reports};
}

model::LocalOptions aligned_options() {
  model::LocalOptions options;
  options.training.epochs = 2;
  options.training.samples = 2;
  options.training.alignment = 1;
  return options;
}

TEST(AlignedUpdate, a_clients_bits_do_not_depend_on_who_shares_its_batch) {
  for (const auto kind : {gpu::EncoderKind::kDeepKernel, gpu::EncoderKind::kLstm})
    for (const bool mini_batches : {false, true}) {
      auto options = aligned_options();
      if (mini_batches) {
        options.training.batch_realisations = 2;
        options.training.batch_points = 0.5;
      }
      const auto clients = marked_clients(kind);
      const auto [together, reports] = two_rounds(clients, options);
      options.workspace_mb = 1e-3;
      const auto [in_blocks, block_reports] = two_rounds(clients, options);
      for (std::size_t k = 0; k < clients.size(); ++k) {
        const auto [alone, report] = two_rounds({clients[k]}, options);
        EXPECT_FALSE(report[0].failure.has_value());
        EXPECT_EQ(together[k], alone[0]);
        EXPECT_EQ(in_blocks[k], alone[0]);
        EXPECT_EQ(reports[k].alignment, report[0].alignment);
        EXPECT_EQ(block_reports[k].alignment, report[0].alignment);
        EXPECT_GT(report[0].alignment, 0);
      }
      options.training.alignment = 0;
      const auto [without, plain] = two_rounds(clients, options);
      EXPECT_NE(without[0], together[0]);
      EXPECT_EQ(plain[0].alignment, 0);
    }
}

TEST(AlignedUpdate, a_first_participant_takes_its_first_step_as_without) {
  auto options = aligned_options();
  options.training.epochs = 1;
  const auto after = [&](double weight) {
    options.training.alignment = weight;
    auto client = marked_clients(gpu::EncoderKind::kDeepKernel)[1];
    const auto report =
        model::local_update({&client}, model::initial_prior({}, client.embedding, 5), options, 11, 0)[0];
    EXPECT_EQ(report.alignment, 0);
    return test::state_of(client);
  };
  EXPECT_EQ(after(1), after(0));
}

TEST(AlignedUpdate, compares_the_draws_of_the_same_epoch) {
  auto options = aligned_options();
  options.training.learning_rate = 1e-9;  // the models go on agreeing
  options.training.batch_realisations = 1;
  auto clients = marked_clients(gpu::EncoderKind::kDeepKernel);
  auto& one = clients[0];  // its only mini-batch is over before the others'
  one = model::make_client(one.id, one.embedding, {one.training[0]}, 7, 1.0);
  for (const auto& report : two_rounds(clients, options, /*moved=*/0).second) EXPECT_LT(report.alignment, 1e-4);
}

TEST(AlignedUpdate, keeps_the_events_embeddings_near_the_received_models) {
  auto options = aligned_options();
  options.training.epochs = 20;
  options.training.prior_weight = 0;  // nothing else does
  const auto term = [&](double weight) {
    options.training.alignment = weight;
    const auto reports = two_rounds(marked_clients(gpu::EncoderKind::kDeepKernel), options).second;
    return reports[1].alignment / weight;
  };
  EXPECT_LT(term(10), 0.5 * term(1e-9));
}

TEST(AlignedUpdate, a_term_beyond_all_bounds_is_a_failure) {
  auto options = aligned_options();
  options.training.alignment = 1e30;
  for (const auto& report : two_rounds(marked_clients(gpu::EncoderKind::kDeepKernel), options).second) {
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_NE(report.failure->find("the alignment is "), std::string::npos) << *report.failure;
  }
}

TEST(AlignmentStrength, is_the_events_times_what_the_received_model_is_worth) {
  auto clients = marked_clients(gpu::EncoderKind::kDeepKernel);
  std::vector<Client*> pointers;
  for (auto& c : clients) pointers.push_back(&c);
  model::LocalOptions options;
  options.training.epochs = 30;
  const auto prior = model::initial_prior({}, clients[0].embedding, 5);
  model::local_update(pointers, prior, options, 3, 0);
  const auto points = points_of(clients);
  config::Training training;
  training.alignment = 2;
  training.samples = 3;
  model::PredictionOptions prediction;
  prediction.samples = 3;
  prediction.seed = 8;
  const model::FrozenPrediction frozen(points, prediction);
  std::vector<model::WeightPosterior> own;
  for (const auto& c : clients) own.push_back(c.state.weights);
  const auto by_own = frozen.under(own), by_prior = frozen.under({prior, prior, prior});
  const auto strengths = model::alignment_strengths(points, prior, config::Model{}.jitter, training, 8);
  bool less = false;
  for (std::size_t k = 0; k < clients.size(); ++k) {
    double events = 0, loss_own = 0, loss_prior = 0;
    for (std::size_t i = 0; i < clients[k].training.size(); ++i) {
      const auto& r = clients[k].training[i];
      for (std::size_t j = 0; j < by_own[k][i].expected_intensity.size(); ++j) {
        const bool event = j < r.events.size();
        const double n = event ? r.multiplicities[j] : 0, omega = event ? 0 : r.node_weights[j - r.events.size()];
        events += n;
        loss_own += omega * by_own[k][i].expected_intensity[j] - n * by_own[k][i].expected_log_intensity[j];
        loss_prior += omega * by_prior[k][i].expected_intensity[j] - n * by_prior[k][i].expected_log_intensity[j];
      }
    }
    const double alpha = std::exp(std::min((loss_own - loss_prior) / events, 0.0));
    EXPECT_NEAR(strengths[k], 2 * events * alpha, 1e-9 * events);
    less = less || alpha < 0.999;
    // The same model on both sides: alpha = 1.
    const auto same =
        model::alignment_strengths({points[k]}, clients[k].state.weights, config::Model{}.jitter, training, 8);
    EXPECT_EQ(same[0], 2 * events);
    if (alpha > 0.999) continue;
    // A received model that is better than the client's own pulls no more than one that is as good.
    auto untrained = clients[k];
    untrained.state.weights = prior;
    EXPECT_EQ(model::alignment_strengths({{&untrained, &untrained.training}}, clients[k].state.weights,
                                         config::Model{}.jitter, training, 8)[0],
              2 * events);
  }
  EXPECT_TRUE(less) << "training made no client better than the prior: the test tests little";
  // Without events, and where the received model cannot be evaluated: no pull.
  Client empty = model::make_client(4, clients[0].embedding, {}, 5, 1.0);
  empty.state.weights = prior;
  EXPECT_EQ(model::alignment_strengths({{&empty, &empty.training}}, prior, config::Model{}.jitter, training, 8),
            Vector{0});
  auto broken = prior;
  broken.mean[0] = std::nan("");
  EXPECT_EQ(model::alignment_strengths({points[0]}, broken, config::Model{}.jitter, training, 8), Vector{0});
}

}  // namespace
