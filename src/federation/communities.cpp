#include "federation/communities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu/draw_purpose.hpp"
#include "model/embeddings.hpp"
#include "mpi/turns.hpp"
#include "structural_entropy/community_weights.hpp"

namespace fedpp::federation {

namespace {

constexpr int kPointsOfStream = 8, kTokensOfStream = 32;
constexpr double kAlike = 0.9;  // mean similarity between communities above which they need not mean anything

gpu::Philox::Counter draw(std::uint64_t seed, std::uint32_t stream, std::uint32_t index) {
  return gpu::random_bits(seed, gpu::DrawPurpose::kProbe, index, stream, 0);
}

// A record of what a rank sends: client, count, that many numbers (none: the server has them).
void append(std::string& text, const void* data, std::size_t bytes) {
  text.append(static_cast<const char*>(data), bytes);
}
template <class T>
T take(const std::string& text, std::size_t& at) {
  T value;
  std::memcpy(&value, text.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

/// Row u of D^-1 (A + I): the weights of all uploads in what client u gets (SFL).
std::vector<double> graph_convolution(const structural_entropy::WeightedGraph& graph) {
  const std::size_t n = graph.vertices();
  std::vector<double> alpha(n * n);
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < n; ++v) alpha[u * n + v] = (u == v ? 1.0 : graph.weight(u, v)) / (1 + graph.degree(u));
  return alpha;
}

}  // namespace

MeanSimilarity mean_similarity(const Communities& communities) {
  const std::size_t n = communities.clients.size();
  double sum[2] = {0, 0}, pairs[2] = {0, 0};
  for (std::size_t u = 0; u < n; ++u)
    for (std::size_t v = 0; v < u; ++v) {
      const bool within = communities.partition[u] == communities.partition[v];
      sum[within] += communities.weights[u * n + v];
      ++pairs[within];
    }
  return {sum[1] / pairs[1], sum[0] / pairs[0]};
}

std::string doubt_about(const Communities& communities) {
  const auto mean = mean_similarity(communities);
  if (!(mean.between > kAlike)) return "";
  return fmt::format(
      "Communities after the last round: mean similarity {} within them, {:.4f} between them. Above {} between them "
      "they need not mean anything, as clients that are nearly alike are split, too (docs/aggregation.md).",
      std::isnan(mean.within) ? "-" : fmt::format("{:.4f}", mean.within), mean.between, kAlike);
}

data::Realisation similarity_probe(const Session& session, std::int64_t points) {
  const double window = session.plan().clock.window;
  const auto seed = session.seed();
  data::Realisation probe;
  if (!session.rules().history) {
    for (std::int64_t k = 0; k < points; ++k)
      probe.nodes.push_back(window *
                            gpu::Philox::uniform(gpu::Philox::bits64(draw(seed, 0, static_cast<std::uint32_t>(k)), 0)));
    std::sort(probe.nodes.begin(), probe.nodes.end());
  } else {
    const auto& gaps = session.rules().gaps;
    const auto types = static_cast<std::uint64_t>(std::max<std::int64_t>(session.input_scale().types, 1));
    for (std::int64_t made = 0; made < points;) {
      const auto number = static_cast<std::uint32_t>(probe.streams.size());
      data::Stream stream;
      double t = 0;
      for (std::uint32_t j = 0; j < kTokensOfStream; ++j) {
        t += std::exp(gaps.mean + gaps.sd * gpu::Philox::normals(draw(seed, 2 * number, j)).first);
        stream.times.push_back(t);
        stream.types.push_back(static_cast<int>(gpu::Philox::bits64(draw(seed, 2 * number + 1, j), 0) % types));
      }
      for (int p = 0; p < kPointsOfStream && made < points; ++p, ++made) {  // each a gap after a token
        const int before = (p + 1) * kTokensOfStream / kPointsOfStream;
        const double gap = std::exp(gaps.mean + gaps.sd * gpu::Philox::normals(draw(seed, 2 * number, p)).second);
        const double next = before < kTokensOfStream ? stream.times[before] : HUGE_VAL;
        probe.nodes.push_back(std::min(stream.times[before - 1] + gap, next));
        probe.node_history.push_back({static_cast<int>(number), before});
      }
      probe.streams.push_back(std::move(stream));
    }
  }
  probe.node_weights.assign(probe.nodes.size(), 1.0);
  return probe;
}

ClientGraph::ClientGraph(Session& session)
    : session_(session),
      similarity_(session.config().aggregation.similarity),
      probe_(similarity_probe(session, session.config().aggregation.probe_points)) {}

void ClientGraph::send_signatures(const KeptUploads& uploads) {
  // 1. Embeddings of the new uploads, one batch.
  std::vector<const std::vector<double>*> weights;
  std::vector<std::int64_t> fresh;
  for (const auto& [client, upload] : uploads)
    if (const auto last = sent_.find(client); last == sent_.end() || last->second != upload.round) {
      fresh.push_back(client);
      weights.push_back(&upload.posterior.mean);
    }
  std::string mine;
  mpi::together(session_.world(), [&] {
    if (session_.owned().empty()) return;
    const auto& embedding = session_.owned().front().model.embedding;
    const auto dimension = static_cast<std::size_t>(embedding.encoder.dimension);
    auto h = model::embeddings_at(embedding, weights, probe_, session_.config().backend.workspace_mb);
    const auto length = signature_length(similarity_, probe_.nodes.size(), dimension);
    mine.reserve(uploads.size() * sizeof(std::int64_t[2]) + fresh.size() * length * sizeof(double));
    std::size_t next = 0;
    for (const auto& [client, upload] : uploads) {
      std::vector<double> numbers;
      if (next < fresh.size() && fresh[next] == client) {
        numbers = signature(similarity_, h[next], dimension);
        h[next++] = {};
      }
      const std::int64_t header[2] = {client, static_cast<std::int64_t>(numbers.size())};
      append(mine, header, sizeof header);
      append(mine, numbers.data(), numbers.size() * sizeof(double));
      sent_[client] = upload.round;
    }
  });
  // 2. To rank 0, which forgets the clients whose uploads count no longer.
  auto texts = session_.world().gather(mine, 0, "embeddings");
  mine = std::string();
  std::map<std::int64_t, std::vector<double>> known;
  for (auto& text : texts) {
    for (std::size_t at = 0; at < text.size();) {
      const auto client = take<std::int64_t>(text, at);
      auto& numbers = known[client];
      if (const auto count = static_cast<std::size_t>(take<std::int64_t>(text, at)); count > 0) {
        signatures_.erase(client);  // makes room for the new one
        numbers.resize(count);
        for (double& x : numbers) x = take<double>(text, at);
      } else {
        numbers = std::move(signatures_.at(client));
      }
    }
    text = {};
  }
  signatures_ = std::move(known);
}

void ClientGraph::broadcast(Communities& c) {
  auto& world = session_.world();
  auto count = static_cast<std::int64_t>(c.clients.size());
  world.broadcast(std::span<std::int64_t>(&count, 1), 0, "communities");
  c.clients.resize(count);
  c.partition.resize(count);
  world.broadcast(c.clients, 0, "communities");
  world.broadcast(c.partition, 0, "communities");
  world.broadcast(std::span<double>(&c.entropy, 1), 0, "communities");
  // Only the weights within communities.
  std::vector<std::size_t> inside;
  const auto k = static_cast<std::size_t>(count);
  for (std::size_t u = 0; u < k; ++u)
    for (std::size_t v = 0; v < k; ++v)
      if (c.partition[u] == c.partition[v]) inside.push_back(u * k + v);
  std::vector<double> packed(inside.size());
  for (std::size_t i = 0; i < inside.size() && world.is_root(); ++i) packed[i] = c.alpha[inside[i]];
  world.broadcast(packed, 0, "communities");
  c.alpha.assign(k * k, 0.0);
  for (std::size_t i = 0; i < inside.size(); ++i) c.alpha[inside[i]] = packed[i];
}

Communities ClientGraph::update(const KeptUploads& uploads) {
  send_signatures(uploads);
  Communities communities;
  mpi::on_root(session_.world(), [&] {
    std::vector<const std::vector<double>*> signatures;
    for (const auto& [client, numbers] : signatures_) {
      communities.clients.push_back(client);
      signatures.push_back(&numbers);
    }
    const auto similarity = similarities(signatures);
    const structural_entropy::WeightedGraph graph(similarity, signatures.size());
    if (session_.config().aggregation.scope == config::Scope::kSimilarityGraph) {
      communities.partition.assign(signatures.size(), 0);
      communities.alpha = graph_convolution(graph);
    } else {
      communities.partition = structural_entropy::minimise(graph);
      communities.alpha = structural_entropy::community_weights(similarity, communities.partition);
    }
    communities.entropy = structural_entropy::entropy(graph, communities.partition);
    communities.weights = graph.weights();
  });
  broadcast(communities);
  return communities;
}

}  // namespace fedpp::federation
