#include "model/inputs.hpp"

#include <cassert>
#include <cmath>
#include <numbers>

namespace fedpp::model {

namespace {

constexpr int kTimeWaves = 3;  // of lengths T, T/2, T/4

/// The registered encoder of that name.
gpu::EncoderKind kind_of(config::Encoder encoder) {
  const auto kind = gpu::encoder_kind(config::word(encoder));
  assert(kind);
  return *kind;
}

}  // namespace

Inputs::Inputs(const config::Model& model, const data::Clock& clock, const data::GapScale& gaps)
    : kind_(kind_of(model.encoder)),
      history_(gpu::encoder_family(kind_).reads_history()),
      time_(config::reads_types(model) ? model.time_input : kind_ != gpu::EncoderKind::kDecay),
      window_(clock.window),
      gaps_(gaps) {
  if (kind_ == gpu::EncoderKind::kRbf) return;
  for (const double period : model.periods)
    waves_.emplace_back(2 * std::numbers::pi / (period * clock.scale),
                        2 * std::numbers::pi * std::fmod(clock.origin / period, 1.0));
  if (kind_ == gpu::EncoderKind::kAttention && time_)
    for (int k = 0; k < kTimeWaves; ++k) waves_.emplace_back(2 * std::numbers::pi * std::exp2(k) / clock.window, 0.0);
}

int Inputs::count() const {
  if (kind_ == gpu::EncoderKind::kRbf) return 1;
  return (kind_ == gpu::EncoderKind::kDecay ? 1 : 0) + (history_ ? 1 : 0) + (time_ ? 1 : 0) +
         2 * static_cast<int>(waves_.size());
}

void Inputs::at(double t, double gap, double* x) const {
  if (kind_ == gpu::EncoderKind::kRbf) {
    *x = t;
    return;
  }
  if (kind_ == gpu::EncoderKind::kDecay) *x++ = t * std::exp(-gaps_.mean);
  if (history_) *x++ = (std::log(gap + gaps_.floor()) - gaps_.mean) / gaps_.sd;
  if (time_) *x++ = 2 * t / window_ - 1;
  for (const auto& [angular, phase] : waves_) {
    *x++ = std::sin(angular * t + phase);
    *x++ = std::cos(angular * t + phase);
  }
}

Embedding make_embedding(const config::Model& model, const data::Clock& clock, const data::GapScale& gaps,
                         std::int64_t types) {
  Embedding embedding;
  embedding.inputs = Inputs(model, clock, gaps);
  gpu::EncoderShape shape;
  shape.kind = kind_of(model.encoder);
  shape.width = static_cast<int>(model.width);
  shape.layers = static_cast<int>(model.layers);
  shape.inputs = embedding.inputs.count();
  shape.type_width = static_cast<int>(model.type_embedding);
  shape.types = model.type_embedding > 0 ? static_cast<int>(types) : 0;
  shape.linear_mean = model.mean == config::PriorMean::kLinear;
  embedding.encoder = gpu::make_encoder(shape);
  return embedding;
}

}  // namespace fedpp::model
