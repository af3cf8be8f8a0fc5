// Encoders: the embedding h of the kernel at a realisation's points (theory 1.7), by its sizes, and who knows them.
// What it does with data is its operator's (gpu/encoder_operator.hpp).
//
// An encoder sees a point as I numbers, its inputs, and for a history encoder as the history before it: the events
// ("tokens") of its stream that came first. Which numbers those are is the caller's business (src/model/inputs.hpp).
// A further encoder is one new file that defines an EncoderFamily, an EncoderKind and a line each in gpu/encoders.hpp and
// gpu/encoders.cpp; outside its word in config/ and what it reads there (reads_history, reads_types), in
// src/model/inputs.cpp what it reads of a point, and how it is told (src/federation/describe.cpp, python/fedpp/captions.py).
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gpu/index.hpp"

namespace fedpp::gpu {

struct Batch;
class EncoderOperator;
struct Fields;
struct ScratchWanted;

enum class EncoderKind : int { kRbf, kDeepKernel, kLstm, kAttention, kDecay };

/// What fixes the sizes of an encoder.
struct EncoderShape {
  EncoderKind kind = EncoderKind::kDeepKernel;
  int width = 32;            ///< H: units of a layer
  int layers = 2;            ///< L, of a history encoder
  int inputs = 1;            ///< I: numbers that describe a point
  int type_width = 0;        ///< A: size of the embedding of a token's type (history encoders; 0: none)
  int types = 0;             ///< K: event types, where they are embedded
  bool linear_mean = false;  ///< whether f has the prior mean nu + a'h, not nu alone
};

/// A shape with what follows from it; copied into kernels by value. Behind the weights w~ stands the process's tail:
/// the prior mean's slopes a, where it has them, and the kernel's own parameters [a; log r; log l].
struct Encoder : EncoderShape {
  int dimension = 0;   ///< D: size of h
  int weights = 0;     ///< of w~
  int slopes = 0;      ///< of a: D where the prior mean is linear, else 0
  int tail = 2;        ///< slopes + 2
  int parameters = 0;  ///< P = weights + tail
};

/// The encoder of a shape. Sizes that do not matter to its kind are ignored.
Encoder make_encoder(const EncoderShape& shape);

/// What is known of a kind of encoder without data. Stateless.
class EncoderFamily {
 public:
  virtual ~EncoderFamily() = default;
  virtual const char* name() const = 0;  ///< as in the configuration
  virtual bool reads_history() const = 0;
  /// Whether embed() and adjoint() may take a batch's chunks one after another. An operator that lays its work out over
  /// all streams takes the batch as a whole.
  virtual bool by_chunks() const { return false; }
  virtual int dimension(const EncoderShape& shape) const = 0;
  virtual int weights(const EncoderShape& shape) const = 0;
  /// Mean and sd [weights] of the distribution that w~ is drawn from at the start; the sd is also the unit of the
  /// prior's (1: as it is).
  struct Start {
    std::vector<double> mean, sd;
  };
  virtual Start start(const EncoderShape& shape) const = 0;
  virtual std::unique_ptr<EncoderOperator> make_operator(const Batch& batch, const Fields& fields,
                                                         bool with_gradient) const = 0;
  /// Doubles of work space that an operator allocates for one sample of a realisation, an upper bound: tokens and
  /// streams of its history, points = N + Q + M, pieces as in batch.hpp.
  virtual Index workspace(const Encoder& encoder, Index tokens, Index streams, Index points, Index pieces,
                          bool with_gradient) const = 0;
  /// And for one sample of a client whose realisations have so many streams together.
  virtual Index client_workspace(const Encoder& /*encoder*/, Index /*streams*/, bool /*with_gradient*/) const {
    return 0;
  }
  /// What the launches of an operator want of scratch (gpu/scratch.hpp).
  virtual void add_scratch(const Encoder& encoder, const Batch& batch, bool with_gradient,
                           ScratchWanted& wanted) const = 0;
  /// Operations of embed() and of adjoint() for one sample of a realisation, counted as in gpu/cost.hpp. What stands
  /// here holds where every token and every point goes through all weights once.
  struct Operations {
    double embed = 0, adjoint = 0;
  };
  virtual Operations operations(const Encoder& encoder, const std::vector<int>& streams, Index points) const;
};

/// The registered families; by kind, and the kind of a name (nothing: there is none).
const std::vector<const EncoderFamily*>& encoder_families();
const EncoderFamily& encoder_family(EncoderKind kind);
std::optional<EncoderKind> encoder_kind(std::string_view name);

}  // namespace fedpp::gpu
