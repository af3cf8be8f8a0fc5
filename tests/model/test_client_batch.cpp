// Batches of clients: what encoders see of streams, blocks, which block is kept, costs.
#include <gtest/gtest.h>

#include <vector>

#include "gpu/adam.hpp"
#include "gpu/cases.hpp"
#include "model/batch_memory.hpp"
#include "model/client_batch.hpp"
#include "model/clients.hpp"
#include "model/embeddings.hpp"
#include "model/kept_block.hpp"

namespace {

using namespace fedpp;
using model::Client;
using Vector = std::vector<double>;

/// Whose encoder sees gaps alone, not the time.
model::Embedding of_gaps() {
  config::Model model;
  model.encoder = config::Encoder::kLstm;
  model.width = 6;
  model.time_input = false;
  return model::make_embedding(model, {});
}

data::Stream stream_of(double start, const Vector& times) { return {start, times, std::vector<int>(times.size(), 0)}; }

/// A node so long after the start of a stream, and after so many of its events.
struct Node {
  int stream;
  double after_start;
  int before;
};

data::Realisation pooled(const std::vector<data::Stream>& streams, const std::vector<Node>& nodes) {
  data::Realisation r;
  r.streams = streams;
  for (const auto& node : nodes) {
    r.nodes.push_back(streams[node.stream].start + node.after_start);
    r.node_weights.push_back(1);
    r.node_history.push_back({node.stream, node.before});
  }
  r.span = {0, 100};
  return r;
}

Vector embeddings_of(const data::Realisation& r) {
  const auto embedding = of_gaps();
  Vector weights;
  for (int p = 0; p < embedding.encoder.parameters; ++p) weights.push_back(std::sin(1.0 + 2 * p));
  return model::embeddings_at(embedding, {&weights}, r, 128)[0];
}

TEST(Streams, are_seen_each_from_its_own_start_wherever_that_is) {
  const Vector first{1, 2.5, 2.75}, second{0.5, 4};
  const auto from = [](double start, Vector times) {
    for (double& t : times) t += start;
    return stream_of(start, times);
  };
  const std::vector<Node> of_first{{0, 0.5, 0}, {0, 1.5, 1}, {0, 9, 3}}, of_second{{0, 0.25, 0}, {0, 5, 2}};
  std::vector<Node> of_both = of_first;
  for (auto node : of_second) {
    node.stream = 1;
    of_both.push_back(node);
  }
  auto apart = embeddings_of(pooled({from(0, first)}, of_first));
  const auto more = embeddings_of(pooled({from(0, second)}, of_second));
  apart.insert(apart.end(), more.begin(), more.end());
  for (const double start : {0.0, 17.0, -3.0}) {
    const auto both = embeddings_of(pooled({from(start, first), from(40 - start, second)}, of_both));
    ASSERT_EQ(both.size(), apart.size());
    for (std::size_t j = 0; j < both.size(); ++j) EXPECT_NEAR(both[j], apart[j], 1e-12) << start << ' ' << j;
  }
}

TEST(Streams, a_point_that_rounding_puts_before_what_it_follows_is_at_it) {
  const auto at = [](double after) { return embeddings_of(pooled({stream_of(3, {4, 6})}, {{0, after, 1}})); };
  EXPECT_EQ(at(1 - 0.5), at(1));
  EXPECT_NE(at(1 + 0.5), at(1));
}

TEST(Blocks, are_filled_up_to_the_room) {
  const Vector bytes(6, 1e6);
  const std::vector<std::pair<int, int>> pairs{{0, 2}, {2, 4}, {4, 6}};
  EXPECT_EQ(model::blocks_of(bytes, 2.5), pairs);
  EXPECT_EQ(model::blocks_of(bytes, 2), pairs);
  EXPECT_EQ(model::blocks_of({5e6, 1e6, 1e6, 5e6}, 2), (std::vector<std::pair<int, int>>{{0, 1}, {1, 3}, {3, 4}}));
}

TEST(KeptBlock, of_other_options_is_another) {
  const Client client = test::small_client(3);
  const std::vector<model::ClientPoints> points{{&client, &client.training}};
  const auto prior = test::small_prior();
  model::KeptBlock kept;
  const model::BatchOptions options{.samples = 2, .jitter = 1e-6, .with_gradient = true};
  EXPECT_EQ(kept.of(points, {prior}, options).samples(), 2);
  auto other = options;
  other.samples = 3;
  EXPECT_EQ(kept.of(points, {prior}, other).samples(), 3);
  other.jitter = 1e-4;
  for (const double jitter : test::host(kept.of(points, {prior}, other).fields().base_jitter)) EXPECT_EQ(jitter, 1e-4);
}

TEST(EpochCost, is_the_higher_the_more_marks_are_aligned) {
  const auto cost = [](int marks) {
    Client client = test::small_client(2);
    for (int j = 0; j < marks; ++j) client.training[0].marks.push_back({j, 0, 1.0});
    return model::epoch_cost(client, 3).flops;
  };
  EXPECT_LT(cost(0), cost(2));
  EXPECT_LT(cost(2), cost(20));
}

TEST(EmbeddingsRoom, is_that_of_the_largest_block) {
  const auto embedding = test::small_encoder();
  data::Realisation probe;
  for (int j = 0; j < 50; ++j) probe.nodes.push_back(2 * j);
  probe.node_weights.assign(50, 1.0);
  const double one = model::embeddings_room(embedding, 1, probe, 1000).arrays;
  const double room = 2.5e-6 * one;
  EXPECT_GT(model::embeddings_room(embedding, 2, probe, room).arrays, 1.9 * one);
  EXPECT_EQ(model::embeddings_room(embedding, 5, probe, room).arrays,
            model::embeddings_room(embedding, 2, probe, room).arrays);
}

TEST(KeptBlock, gives_its_room_to_blocks_that_need_it) {
  std::vector<Client> clients{test::small_client(3), test::small_client(6)};
  model::LocalOptions options;
  options.training.epochs = 1;
  for (const bool aligned : {false, true}) {
    model::KeptBlock kept;
    options.workspace_mb = 128;
    options.training.alignment = 0;
    (void)model::local_update({&clients[0], &clients[1]}, test::small_prior(), options, 11, 0, {&kept});
    const auto raw = kept.adam().raw;  // a device's reserve may hold it, too
    const auto held = raw.use_count();
    (aligned ? options.training.alignment : options.workspace_mb) = 1e-3;
    (void)model::local_update({&clients[0], &clients[1]}, test::small_prior(), options, 11, 1, {&kept});
    EXPECT_LT(raw.use_count(), held) << aligned;
  }
}

}  // namespace
