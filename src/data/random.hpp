// Seeded choices that are the same with every compiler and on every rank: std::mt19937_64 is specified bit for bit, the
// standard's distributions and std::shuffle are not, so these are our own.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace fedpp::data {

/// What random numbers are for; part of their key, so that no two uses share a stream.
enum class Purpose : std::uint64_t {
  kDealTrain = 1,
  kDealTest = 2,
  kLocalFraction = 3,
  kFolds = 4,
  kSimulateFunction = 5,
  kSimulateEvents = 6,
  kValidationHalves = 7,
  kReplacedEvents = 8,
  kDeRounding = 9,
};

/// Steele, Lea and Flood's mixer: neighbouring keys give unrelated values.
inline std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A stream of random numbers keyed by (seed, purpose, index).
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::int64_t index)
      : engine_(splitmix64(splitmix64(splitmix64(seed) ^ static_cast<std::uint64_t>(purpose)) ^
                           static_cast<std::uint64_t>(index))) {}

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Exponential of mean 1.
  double exponential() { return -std::log1p(-uniform()); }
  /// Standard normal (Box and Muller).
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// Uniform integer in [0, n), without bias.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (0 - n) % n;  // 2^64 mod n
    std::uint64_t x = engine_();
    while (x < excess) x = engine_();
    return x % n;
  }
  /// Fisher and Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::uint64_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fedpp::data
