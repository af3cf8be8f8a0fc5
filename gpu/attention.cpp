// The attention encoder (theory 1.7; equations and layout of the weights: docs/encoders.md): its family and its
// operator, whose launches are in gpu/attention_embed.cpp and gpu/attention_adjoint.cpp.
//
// Tokens and points are items that attend to the tokens of their stream before them.
#include <algorithm>
#include <cmath>

#include "gpu/arrays.hpp"
#include "gpu/attention_work.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/encoders.hpp"
#include "gpu/scratch.hpp"

namespace fedpp::gpu {

namespace attention {
namespace {

constexpr double kReach = 4;      ///< tokens that the first layer looks back over at the start, and from layer to layer
constexpr double kStartSd = 0.1;  ///< of the slopes' logarithms

Index lay_out_blocks(const Batch& batch, const std::vector<Encoder>& encoders, Work& k) {
  std::vector<int> client, realisation, tokens, samples;
  to_host(batch.client, client);
  to_host(batch.stream_realisation, realisation);
  to_host(batch.stream_tokens, tokens);
  to_host(batch.samples, samples);
  std::vector<int> block_stream, block_first, task_block, task_sample, client_tasks, slot_stream;
  std::vector<Index> task_gradient;
  Index gradient = 0;
  for (int stream = 0; stream < batch.streams; ++stream) {
    slot_stream.insert(slot_stream.end(), tokens[stream] + 1, stream);
    const int c = client[realisation[stream]];
    while (static_cast<int>(client_tasks.size()) <= c) client_tasks.push_back(static_cast<int>(task_block.size()));
    if (encoders[c].kind != EncoderKind::kAttention) continue;
    for (int first = 0; first < tokens[stream]; first += kItems) {
      for (int sample = 0; sample < samples[c]; ++sample) {
        task_block.push_back(static_cast<int>(block_stream.size()));
        task_sample.push_back(sample);
        task_gradient.push_back(gradient);
        gradient += encoders[c].weights;
      }
      block_stream.push_back(stream);
      block_first.push_back(first);
    }
  }
  client_tasks.resize(batch.clients + 1, static_cast<int>(task_block.size()));
  k.tasks = static_cast<int>(task_block.size());
  ArraySet<int> ints;
  ints.upload("block_stream", k.block_stream, block_stream);
  ints.upload("block_first", k.block_first, block_first);
  ints.upload("token_task_block", k.task_block, task_block);
  ints.upload("token_task_sample", k.task_sample, task_sample);
  ints.upload("token_client_tasks", k.client_tasks, client_tasks);
  ints.upload("slot_stream", k.slot_stream, slot_stream);
  ints.make("token_blocks");
  ArraySet<Index> offsets;
  offsets.upload("token_gradient_offset", k.task_gradient, task_gradient);
  offsets.make("token_offsets");
  return gradient;
}

class AttentionOperator : public EncoderOperator {
 public:
  AttentionOperator(const Batch& batch, const Fields& fields, bool with_gradient) {
    std::vector<Encoder> encoders;
    to_host(batch.encoder, encoders);
    int h = 0;  // the largest width: arrays have the strides of the largest sizes
    for (const Encoder& e : encoders) {
      if (e.kind != EncoderKind::kAttention) continue;
      const Attention a(e);
      h = std::max(h, a.width);
      k_.layers = std::max(k_.layers, a.layers);
      k_.forward_scratch = std::max(k_.forward_scratch, ForwardScratch::size(a));
      k_.adjoint_scratch = std::max(k_.adjoint_scratch, AdjointScratch::size(a));
      k_.keys_scratch = std::max(k_.keys_scratch, KeysScratch::size(a));
    }
    k_.with_gradient = with_gradient;
    const Index gradient = lay_out_blocks(batch, encoders, k_);
    const Index slots = batch.lengths.problem_slot, points = batch.lengths.problem_point;
    const int l = k_.layers;
    ArraySet<double> doubles;
    const auto lay_out = [&](const char* name, PerItem& x, Index items, int stride) {
      x.stride = stride;
      doubles.uninitialised(name, x.all, items * stride);
    };
    lay_out("attention_kv", k_.token_kv, slots, Keys::parts(with_gradient) * h * l);
    lay_out("attention_x", k_.token_x, slots, h * l);
    lay_out("attention_o", k_.token_o, slots, (h + 1) * (l - 1));
    if (with_gradient) {
      doubles.uninitialised("token_gradient", k_.gradient, gradient);
      lay_out("attention_point_o", k_.point_o, points, (h + 1) * l);
      lay_out("attention_point_items", k_.point_items, points, (2 * h + 2) * l);
      lay_out("attention_token_items", k_.token_items, slots, (2 * h + 2) * (l - 1));
      lay_out("attention_qkv_bar", k_.token_qkv_bar, slots, 3 * h);
      lay_out("attention_x_bar", k_.token_x_bar, slots, h);
    }
    doubles.make("attention");
    if (with_gradient) k_.points = make_slot_points(batch, fields);
  }

  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    attention::embed(exec, batch, fields, k_, batch_only);
  }

  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    attention::adjoint(exec, batch, fields, k_);
    sum_gradients(exec, batch, fields, EncoderKind::kAttention, k_.client_tasks, k_.task_gradient, k_.gradient);
  }

 private:
  Work k_;
};

class AttentionFamily : public EncoderFamily {
 public:
  const char* name() const override { return "attention"; }
  bool reads_history() const override { return true; }
  int dimension(const EncoderShape& shape) const override { return shape.width; }
  int weights(const EncoderShape& shape) const override { return Attention(shape).weights(); }

  /// Matrices by the number of their inputs; a layer looks back over about four times as many tokens as the one below.
  Start start(const EncoderShape& shape) const override {
    const Attention a(shape);
    Start start{std::vector<double>(a.weights(), 0.0),
                std::vector<double>(a.weights(), 1 / std::sqrt(static_cast<double>(a.width + 1)))};
    std::fill_n(start.sd.begin(), a.embed_in(), 1.0);
    std::fill_n(start.sd.begin() + a.embed_in(), a.width * (a.below() + 1),
                1 / std::sqrt(static_cast<double>(a.below() + 1)));
    for (int layer = 0; layer < a.layers; ++layer) {
      start.mean[a.recency(layer)] = -(layer + 1) * std::log(kReach);
      start.sd[a.recency(layer)] = kStartSd;
    }
    return start;
  }

  std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields& fields,
                                                 bool with_gradient) const override {
    return std::make_unique<AttentionOperator>(batch, fields, with_gradient);
  }

  Index workspace(const Encoder& encoder, Index tokens, Index streams, Index points, Index,
                  bool with_gradient) const override {
    const Index h = encoder.width, layers = encoder.layers, slots = tokens + streams;
    const Index blocks = tokens / kItems + streams;
    Index total = slots * ((Keys::parts(with_gradient) + 1) * h * layers + (h + 1) * (layers - 1) + 1) + 3 * blocks;
    if (with_gradient)
      total += points * ((3 * h + 3) * layers + 1) + slots * ((2 * h + 2) * (layers - 1) + 4 * h + 1) +
               blocks * encoder.weights;
    return total;
  }

  void add_scratch(const Encoder& encoder, const Batch& b, bool with_gradient, ScratchWanted& wanted) const override {
    const Attention a(encoder);
    const Index blocks = (b.lengths.token / kItems + b.streams) * b.most_samples, pieces = b.piece_tasks;
    wanted.launch(std::max(blocks, pieces), ForwardScratch::size(a));
    if (!with_gradient) return;
    wanted.launch(std::max(blocks, pieces), AdjointScratch::size(a));
    wanted.launch(blocks, KeysScratch::size(a));
  }

  /// Beside the layers' matrices: q'k and v of every (item, earlier token), and in the adjoint of items and of tokens
  /// seven such products. A point stands in the middle of its stream, taken on the average.
  Operations operations(const Encoder& e, const std::vector<int>& streams, Index points) const override {
    double tokens = 0, squares = 0;
    for (const double length : streams) {
      tokens += length;
      squares += length * length;
    }
    const double by_points = tokens > 0 ? 0.5 * static_cast<double>(points) * squares / tokens : 0;
    const double pairs = by_points * e.layers + 0.5 * squares * (e.layers - 1);
    const Operations layers = EncoderFamily::operations(e, streams, points);
    return {layers.embed + 4 * e.width * pairs, layers.adjoint + 14 * e.width * pairs};
  }
};

}  // namespace
}  // namespace attention

const EncoderFamily& attention_family() {
  static const attention::AttentionFamily family;
  return family;
}

}  // namespace fedpp::gpu
