// The LSTM encoder (theory 1.7; equations and layout of the weights: docs/encoders.md): its family and its operator,
// whose launches are in gpu/lstm_embed.cpp and gpu/lstm_adjoint.cpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/arrays.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/encoders.hpp"
#include "gpu/lstm_work.hpp"
#include "gpu/scratch.hpp"

namespace fedpp::gpu {

namespace lstm {
namespace {

/// Bundles of each client's streams, longest first: the same whatever else is in the batch.
Index lay_out_bundles(const Batch& batch, const std::vector<Encoder>& encoders, Work& k) {
  std::vector<int> client, realisation, tokens, samples;
  to_host(batch.client, client);
  to_host(batch.stream_realisation, realisation);
  to_host(batch.stream_tokens, tokens);
  to_host(batch.samples, samples);
  std::vector<std::vector<int>> streams(batch.clients);
  for (int s = 0; s < batch.streams; ++s)
    if (encoders[client[realisation[s]]].kind == EncoderKind::kLstm) streams[client[realisation[s]]].push_back(s);

  std::vector<int> bundle_client, bundle_begin{0}, order, client_tasks{0}, task_bundle, task_sample;
  std::vector<Index> task_gradient;
  Index gradient = 0;
  for (int c = 0; c < batch.clients; ++c) {
    auto& own = streams[c];
    std::stable_sort(own.begin(), own.end(), [&](int a, int b) { return tokens[a] > tokens[b]; });
    for (std::size_t first = 0; first < own.size(); first += kBundleStreams) {
      const std::size_t last = std::min(first + kBundleStreams, own.size());
      k.most_streams = std::max(k.most_streams, static_cast<int>(last - first));
      order.insert(order.end(), own.begin() + first, own.begin() + last);
      for (int sample = 0; sample < samples[c]; ++sample) {
        task_bundle.push_back(static_cast<int>(bundle_client.size()));
        task_sample.push_back(sample);
        task_gradient.push_back(gradient);
        gradient += encoders[c].weights;
      }
      bundle_client.push_back(c);
      bundle_begin.push_back(static_cast<int>(order.size()));
    }
    client_tasks.push_back(static_cast<int>(task_bundle.size()));
  }
  k.tasks = static_cast<int>(task_bundle.size());
  ArraySet<int> ints;
  ints.upload("bundle_client", k.bundle_client, bundle_client);
  ints.upload("bundle_begin", k.bundle_begin, bundle_begin);
  ints.upload("bundle_streams", k.bundle_streams, order);
  ints.upload("bundle_client_tasks", k.client_tasks, client_tasks);
  ints.upload("bundle_task", k.task_bundle, task_bundle);
  ints.upload("bundle_sample", k.task_sample, task_sample);
  ints.make("bundles");
  ArraySet<Index> offsets;
  offsets.upload("bundle_gradient_offset", k.task_gradient, task_gradient);
  offsets.make("bundle_offsets");
  return gradient;
}

class LstmOperator : public EncoderOperator {
 public:
  LstmOperator(const Batch& batch, const Fields& fields, bool with_gradient) {
    std::vector<Encoder> encoders;
    to_host(batch.encoder, encoders);
    for (const Encoder& e : encoders) {
      if (e.kind != EncoderKind::kLstm) continue;
      const Lstm s(e);
      k_.stride = std::max(k_.stride, s.state());
      k_.gates = std::max(k_.gates, s.gates());
      k_.back = std::max(k_.back, s.back());
      k_.layers = std::max(k_.layers, s.layers);
      k_.forward_scratch = std::max(k_.forward_scratch, s.forward_scratch());
      k_.adjoint_scratch = std::max(k_.adjoint_scratch, s.adjoint_scratch());
    }
    const Index gradient = lay_out_bundles(batch, encoders, k_);
    ArraySet<double> doubles;
    doubles.zeros("lstm_memory", k_.memory, batch.lengths.problem_slot * k_.stride);  // the state at the start
    doubles.uninitialised("lstm_hidden", k_.hidden, batch.lengths.problem_slot * k_.gates);
    if (with_gradient) {
      doubles.uninitialised("bundle_gradient", k_.gradient, gradient);
      doubles.uninitialised("lstm_point_adjoint", k_.point_adjoint, batch.lengths.problem_point * k_.back);
    }
    doubles.make("lstm");
    if (with_gradient) k_.points = make_slot_points(batch, fields);
  }

  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    lstm::embed(exec, batch, fields, k_, batch_only);
  }

  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    lstm::adjoint(exec, batch, fields, k_);
    sum_gradients(exec, batch, fields, EncoderKind::kLstm, k_.client_tasks, k_.task_gradient, k_.gradient);
  }

 private:
  Work k_;
};

class LstmFamily : public EncoderFamily {
 public:
  const char* name() const override { return "lstm"; }
  bool reads_history() const override { return true; }
  int dimension(const EncoderShape& shape) const override { return shape.width; }
  int weights(const EncoderShape& shape) const override { return Lstm(shape).weights(); }

  /// Matrices by the number of their inputs; the forget gate open, so that gradients reach far back at first.
  Start start(const EncoderShape& shape) const override {
    const Lstm s(shape);
    Start start{std::vector<double>(s.weights(), 0.0), std::vector<double>(s.weights(), 1.0)};
    for (int layer = 0; layer < s.layers; ++layer) {
      const int rows = s.rows(layer), gates = 4 * s.width;
      std::fill_n(start.sd.begin() + s.weight(layer), gates * rows, 1 / std::sqrt(static_cast<double>(rows)));
      std::fill_n(start.mean.begin() + s.weight(layer) + (rows - 1) * gates + s.width, s.width, 1.0);
    }
    return start;
  }

  std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields& fields,
                                                 bool with_gradient) const override {
    return std::make_unique<LstmOperator>(batch, fields, with_gradient);
  }

  Index workspace(const Encoder& encoder, Index tokens, Index streams, Index points, Index,
                  bool with_gradient) const override {
    const Lstm s(encoder);
    const Index slots = tokens + streams, memory = slots * (s.state() + s.gates()) + streams;
    return with_gradient ? memory + points * s.back() + slots + points : memory;
  }
  Index client_workspace(const Encoder& encoder, Index streams, bool with_gradient) const override {
    const Index bundles = (streams + kBundleStreams - 1) / kBundleStreams;
    return bundles * (4 + (with_gradient ? Lstm(encoder).weights() : 0));
  }

  void add_scratch(const Encoder& encoder, const Batch& b, bool with_gradient, ScratchWanted& wanted) const override {
    const Lstm s(encoder);
    const Index column = with_gradient ? s.adjoint_scratch() : s.forward_scratch();
    const int most_streams = std::min(b.streams, kBundleStreams);  // of the batch's largest bundle, at most
    wanted.launch(static_cast<Index>(b.streams) * b.most_samples, bundle_scratch(most_streams, column));
    wanted.launch(b.piece_tasks, kPointColumns * column);
  }

  /// W_h once a slot, W_x once a token and a point (whose types are no input); in the adjoint twice that.
  Operations operations(const Encoder& encoder, const std::vector<int>& streams, Index points) const override {
    const Lstm s(encoder);
    const double tokens = std::accumulate(streams.begin(), streams.end(), 0.0), gates = 4 * s.width;
    const double slots = tokens + static_cast<double>(streams.size()), upper = (s.layers - 1.0) * s.width;
    const double products = gates * (slots * s.layers * (s.width + 1.0) + tokens * (s.below(0) + upper) +
                                     static_cast<double>(points) * (s.inputs + upper));
    return {2 * products, 4 * products};
  }
};

}  // namespace
}  // namespace lstm

const EncoderFamily& lstm_family() {
  static const lstm::LstmFamily family;
  return family;
}

}  // namespace fedpp::gpu
