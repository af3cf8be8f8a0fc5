// The keys whose values are words: an enumeration each, with what files, messages and results call its values, in the
// values' order. This is the only place where they stand; reading, writing, the checks and the help come from here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace fedpp::config {

/// An enumeration's words; specialised beside each.
template <class E>
inline constexpr std::array<std::string_view, 0> kWords{};

template <class... W>
constexpr std::array<std::string_view, sizeof...(W)> words(W... list) {
  return {list...};
}

template <class E>
concept Choice = !kWords<E>.empty();

template <Choice E>
constexpr std::string_view word(E value) {
  return kWords<E>[static_cast<std::size_t>(value)];
}

template <Choice E>
constexpr std::optional<E> from_word(std::string_view text) {
  for (std::size_t i = 0; i < kWords<E>.size(); ++i)
    if (kWords<E>[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

/// The three protocols of theory 3.3; they are never mixed in one table.
enum class Protocol { kChronological, kPopulation, kPublishedCode };
template <>
inline constexpr auto kWords<Protocol> = words("chronological", "population", "published-code");

enum class Realisation { kAuto, kPerSequence, kPooled };
template <>
inline constexpr auto kWords<Realisation> = words("auto", "per-sequence", "pooled");

enum class Clock { kAuto, kElapsed, kCalendar };
template <>
inline constexpr auto kWords<Clock> = words("auto", "elapsed", "calendar");

/// Where the windows of training, validation and test meet.
enum class SplitAt { kAuto, kHalfway, kEvent, kTime };
template <>
inline constexpr auto kWords<SplitAt> = words("auto", "halfway", "event", "time");

enum class Partition { kHeterogeneous, kHomogeneous, kFile };
template <>
inline constexpr auto kWords<Partition> = words("heterogeneous", "homogeneous", "file");

enum class Encoder { kAuto, kRbf, kDeepKernel, kLstm, kAttention, kDecay };
template <>
inline constexpr auto kWords<Encoder> = words("auto", "rbf", "deep-kernel", "lstm", "attention", "decay");

enum class PriorMean { kAuto, kConstant, kLinear };
template <>
inline constexpr auto kWords<PriorMean> = words("auto", "constant", "linear");

enum class Tempering { kNone, kFixed, kDispersion };
template <>
inline constexpr auto kWords<Tempering> = words("none", "fixed", "dispersion");

enum class SdMap { kSoftplus, kExp };
template <>
inline constexpr auto kWords<SdMap> = words("softplus", "exp");

enum class Schedule { kConstant, kCosine, kInverseSqrt };
template <>
inline constexpr auto kWords<Schedule> = words("constant", "cosine", "inverse-sqrt");

enum class Precision { kDouble, kMixed };
template <>
inline constexpr auto kWords<Precision> = words("double", "mixed");

enum class Mode { kFederated, kLocal, kFedavg, kFedprox, kPerFedavg, kDitto, kFedala, kApple };
template <>
inline constexpr auto kWords<Mode> =
    words("federated", "local", "fedavg", "fedprox", "per-fedavg", "ditto", "fedala", "apple");

enum class ClientStart { kContinue, kOverwrite, kMix, kOptimised };
template <>
inline constexpr auto kWords<ClientStart> = words("continue", "overwrite", "mix", "optimised");

enum class Divergence { kAuto, kKl, kW2, kFedavg, kMmd };
template <>
inline constexpr auto kWords<Divergence> = words("auto", "kl", "w2", "fedavg", "mmd");

enum class UploadWeights { kUniform, kEvents };
template <>
inline constexpr auto kWords<UploadWeights> = words("uniform", "events");

enum class Estimator { kMean, kMedian, kTrimmedMean };
template <>
inline constexpr auto kWords<Estimator> = words("mean", "median", "trimmed-mean");

enum class Scope { kGlobal, kStructuralEntropy, kSimilarityGraph };
template <>
inline constexpr auto kWords<Scope> = words("global", "structural-entropy", "similarity-graph");

enum class Similarity { kMeanOfCosines, kCosineOfMeans, kCentredGram };
template <>
inline constexpr auto kWords<Similarity> = words("mean-of-cosines", "cosine-of-means", "centred-gram");

enum class AttackKind { kNone, kNoise, kScaled, kSignFlipped, kReplacedEvents };
template <>
inline constexpr auto kWords<AttackKind> = words("none", "noise", "scaled", "sign-flipped", "replaced-events");

enum class Dense { kAuto, kBlas, kTeam };
template <>
inline constexpr auto kWords<Dense> = words("auto", "blas", "team");

}  // namespace fedpp::config
