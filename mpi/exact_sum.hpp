// Sums of doubles whose bits do not depend on order, partition or number of ranks (theory 2.2): every contribution is
// rounded once to a multiple of 2^-k, and multiples are added as integers modulo 2^64 (one word) or 2^128 (two words).
// Needs no MPI: the collectives are in mpi/exact_reduce.hpp.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/error.hpp"

namespace fedpp::mpi {

/// Width and resolution of fixed-point sums.
struct FixedPoint {
  int words = 1;           ///< 1 or 2: 64 or 128 bits a sum
  int fraction_bits = 40;  ///< k, from 0 to 62 (one word) or 126 (two words)

  static FixedPoint one_word(int fraction_bits) { return {1, fraction_bits}; }
  /// For sums that one word is too short for (probe, scores, mmd): 2^-64 to 2^63 / C.
  static FixedPoint two_words(int fraction_bits = 64) { return {2, fraction_bits}; }
};

/// A vector of exact sums.
class ExactSums {
 public:
  /// `size` sums of at most `contributions` (C) terms each over all ranks. Throws Error for an impossible format.
  ExactSums(std::size_t size, FixedPoint format, std::uint64_t contributions);

  /// Adds x, rounded to the nearest multiple of 2^-k (ties to even), to sum `index`. Throws Error for NaN, infinities,
  /// and |x| beyond bound(), naming value, index, bound and remedy.
  void add(std::size_t index, double x) {
    assert(index < size());
    const double scaled = x * scale_;  // exact, or beyond the bound
    if (!(std::fabs(scaled) < scaled_bound_)) refuse(index, x);
    const double rounded = std::nearbyint(scaled);
    if (format_.words == 1) {
      words_[index] += static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded));
      return;
    }
    const double magnitude = std::fabs(rounded);
    const auto upper = static_cast<std::int64_t>(magnitude * 0x1p-64);
    const auto lower = static_cast<std::uint64_t>(magnitude - static_cast<double>(upper) * 0x1p64);  // exact
    const std::uint64_t negative = rounded < 0 ? 1 : 0, flip = 0 - negative;                         // -x is ~x + 1
    const std::uint64_t low = (lower ^ flip) + negative;
    const std::uint64_t term[2] = {low, (static_cast<std::uint64_t>(upper) ^ flip) + (low == 0 ? negative : 0)};
    add_two_words(term, &words_[2 * index]);
  }

  /// Whether add() would take x.
  bool holds(double x) const { return std::fabs(x * scale_) < scaled_bound_; }

  /// Sum `index`, correctly rounded to double.
  double value(std::size_t index) const;
  /// All sums, correctly rounded.
  std::vector<double> values() const;

  std::size_t size() const { return words_.size() / format_.words; }
  FixedPoint format() const { return format_; }
  std::uint64_t contributions() const { return contributions_; }
  /// The magnitude that a contribution must stay below: 2^(63-k)/C, or 2^(127-k)/C.
  double bound() const;

  /// The sums as integers, two's complement: [size] or [size][low, high].
  std::span<std::uint64_t> words() { return words_; }
  std::span<const std::uint64_t> words() const { return words_; }

  /// sum += term for 128-bit integers [low, high], carry included; also the operation of the collective.
  static void add_two_words(const std::uint64_t* term, std::uint64_t* sum) {
    sum[0] += term[0];
    sum[1] += term[1] + (sum[0] < term[0] ? 1u : 0u);
  }

 private:
  [[noreturn]] void refuse(std::size_t index, double x) const;

  FixedPoint format_;
  std::uint64_t contributions_;
  double scale_;         // 2^k
  double scaled_bound_;  // bound() * 2^k, rounded down
  std::vector<std::uint64_t> words_;
};

}  // namespace fedpp::mpi
