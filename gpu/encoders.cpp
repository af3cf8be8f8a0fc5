// The registered encoders: one line each.
#include "gpu/encoders.hpp"

#include <cstddef>
#include <numeric>

#include "gpu/cost.hpp"
#include "gpu/encoder.hpp"
#include "gpu/encoder_operator.hpp"

namespace fedpp::gpu {

const std::vector<const EncoderFamily*>& encoder_families() {
  static const std::vector<const EncoderFamily*> families{&rbf_family(), &deep_kernel_family(), &lstm_family(),
                                                          &attention_family(),
                                                          &decay_family()};  // in the order of EncoderKind
  return families;
}

const EncoderFamily& encoder_family(EncoderKind kind) { return *encoder_families()[static_cast<std::size_t>(kind)]; }

std::optional<EncoderKind> encoder_kind(std::string_view name) {
  for (std::size_t kind = 0; kind < encoder_families().size(); ++kind)
    if (name == encoder_families()[kind]->name()) return static_cast<EncoderKind>(kind);
  return std::nullopt;
}

Encoder make_encoder(const EncoderShape& shape) {
  const EncoderFamily& family = encoder_family(shape.kind);
  Encoder encoder;
  static_cast<EncoderShape&>(encoder) = shape;
  encoder.dimension = family.dimension(shape);
  encoder.weights = family.weights(shape);
  encoder.slopes = shape.linear_mean ? encoder.dimension : 0;
  encoder.tail = encoder.slopes + 2;
  encoder.parameters = encoder.weights + encoder.tail;
  return encoder;
}

EncoderFamily::Operations EncoderFamily::operations(const Encoder& encoder, const std::vector<int>& streams,
                                                    Index points) const {
  const double passes = static_cast<double>(std::accumulate(streams.begin(), streams.end(), points));
  return {2.0 * encoder.weights * passes, 4.0 * encoder.weights * passes};
}

namespace {

/// N + Q, and M once a set.
Index points(const RealisationExtent& r) { return r.columns + (r.shares_inducing ? 0 : r.inducing); }

/// Their h, in and out once.
double point_bytes(const ClientExtent& c, const RealisationExtent& r) {
  return 8.0 * points(r) * (c.encoder.dimension + c.encoder.inputs);
}

/// Every kind that the batch's clients use, each on its own clients.
class MixedOperator : public EncoderOperator {
 public:
  explicit MixedOperator(std::vector<std::unique_ptr<EncoderOperator>> parts) : parts_(std::move(parts)) {}
  void embed(const Exec& exec, const Batch& batch, const Fields& fields, bool batch_only) override {
    for (const auto& part : parts_) part->embed(exec, batch, fields, batch_only);
  }
  void adjoint(const Exec& exec, const Batch& batch, const Fields& fields) override {
    for (const auto& part : parts_) part->adjoint(exec, batch, fields);
  }
  void collect(const Exec& exec, const Batch& batch, const Fields& fields) override {
    for (const auto& part : parts_) part->collect(exec, batch, fields);
  }

 private:
  std::vector<std::unique_ptr<EncoderOperator>> parts_;
};

}  // namespace

Cost embed_cost(const ClientExtent& c, const RealisationExtent& r) {
  const auto operations = encoder_family(c.encoder.kind).operations(c.encoder, r.streams, points(r));
  return c.samples * Cost{operations.embed, point_bytes(c, r)};
}

Cost embed_adjoint_cost(const ClientExtent& c, const RealisationExtent& r) {
  const auto operations = encoder_family(c.encoder.kind).operations(c.encoder, r.streams, points(r));
  return c.samples * Cost{operations.adjoint, 2 * point_bytes(c, r)};
}

std::unique_ptr<EncoderOperator> make_encoder_operator(const Batch& batch, const Fields& fields, bool with_gradient) {
  std::vector<Encoder> encoders;
  to_host(batch.encoder, encoders);
  std::vector<std::unique_ptr<EncoderOperator>> parts;
  for (std::size_t kind = 0; kind < encoder_families().size(); ++kind)
    for (const Encoder& encoder : encoders)
      if (static_cast<std::size_t>(encoder.kind) == kind) {
        parts.push_back(encoder_families()[kind]->make_operator(batch, fields, with_gradient));
        break;
      }
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<MixedOperator>(std::move(parts));
}

}  // namespace fedpp::gpu
