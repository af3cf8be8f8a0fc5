// What an encoder sees of a point or token (theory 1.7, docs/encoders.md).
#pragma once

#include <utility>
#include <vector>

#include "config/options.hpp"
#include "data/client_data.hpp"
#include "data/history.hpp"
#include "gpu/encoder.hpp"

namespace fedpp::model {

/// The inputs of each kind, model time t, gap = time since the last token (or the stream's start):
///   rbf          [t]
///   deep-kernel  [tau, sin and cos of each period],  tau = 2 t / T - 1
///   lstm         [(log(gap + floor) - mean) / sd, tau unless told not to, sin and cos of each period]
///   attention    the same, and sin and cos of waves T, T/2, T/4 as its time encoding
///   decay        [t / exp(mean), (log(gap + floor) - mean) / sd, sin and cos of each period]
class Inputs {
 public:
  Inputs() = default;
  Inputs(const config::Model& model, const data::Clock& clock, const data::GapScale& gaps);

  int count() const;                               ///< I
  void at(double t, double gap, double* x) const;  ///< x[I]
  double window() const { return window_; }        ///< T
  const data::GapScale& gaps() const { return gaps_; }

 private:
  gpu::EncoderKind kind_ = gpu::EncoderKind::kDeepKernel;
  bool history_ = false, time_ = true;  ///< whether log gap and tau are among the inputs
  double window_ = 100;
  data::GapScale gaps_;
  std::vector<std::pair<double, double>> waves_;  ///< angular frequency (model clock), phase at model time 0
};

/// An encoder with what it sees.
struct Embedding {
  gpu::Encoder encoder;
  Inputs inputs;
  bool reads_history() const { return gpu::encoder_family(encoder.kind).reads_history(); }
};

/// The embedding that the configuration asks for. \param types event types of the data, for their embedding
Embedding make_embedding(const config::Model& model, const data::Clock& clock, const data::GapScale& gaps = {},
                         std::int64_t types = 0);

}  // namespace fedpp::model
