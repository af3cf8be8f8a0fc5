#include "mpi/exact_sum.hpp"

#include <fmt/format.h>

#include <bit>

namespace fedpp::mpi {

namespace {

// -x modulo 2^128.
void negate(std::uint64_t& low, std::uint64_t& high) {
  low = ~low + 1;
  high = ~high + (low == 0 ? 1u : 0u);
}

// Nearest double of a 128-bit magnitude: the 64 leading bits, the rest folded into the last of them ("sticky"), are
// rounded once by the conversion.
double to_double(std::uint64_t low, std::uint64_t high) {
  if (high == 0) return static_cast<double>(low);
  const int shift = std::countl_zero(high);
  const std::uint64_t leading = shift == 0 ? high : (high << shift) | (low >> (64 - shift));
  const std::uint64_t rest = low << shift;
  return std::ldexp(static_cast<double>(leading | (rest != 0 ? 1u : 0u)), 64 - shift);
}

}  // namespace

ExactSums::ExactSums(std::size_t size, FixedPoint format, std::uint64_t contributions)
    : format_(format),
      contributions_(contributions == 0 ? 1 : contributions),
      scale_(std::ldexp(1.0, format.fraction_bits)) {
  if (format.words != 1 && format.words != 2) {
    throw Error(fmt::format("exact sums have 1 or 2 words, not {}", format.words));
  }
  const int most = 64 * format.words - 2;
  if (format.fraction_bits < 0 || format.fraction_bits > most) {
    throw Error(fmt::format("exact sums of {} word(s) take 0 to {} fraction bits, not {}", format.words, most,
                            format.fraction_bits));
  }
  // Half a unit below 2^63 / C (2^127 / C), so that also the rounded contributions of C terms stay inside; doubles from
  // 2^53 on are integers, and there the strict comparison in add() suffices.
  const double limit = std::ldexp(1.0, 64 * format.words - 1) / static_cast<double>(contributions_);
  scaled_bound_ = limit < 0x1p52 ? std::floor(limit) - 0.5 : std::nextafter(limit, 0.0);
  if (scaled_bound_ <= 0) {
    throw Error(fmt::format("exact sums of {} contributions do not fit {} word(s)", contributions_, format.words));
  }
  words_.assign(size * format.words, 0);
}

double ExactSums::bound() const {
  return std::ldexp(1.0, 64 * format_.words - 1 - format_.fraction_bits) / static_cast<double>(contributions_);
}

void ExactSums::refuse(std::size_t index, double x) const {
  if (!std::isfinite(x)) throw Error(fmt::format("exact sum: contribution {} to sum {} is not finite", x, index));
  throw Error(
      fmt::format("exact sum: contribution {} to sum {} is not below the bound {:.6g} = 2^({}-{})/{} of {} fraction "
                  "bits and {} contributions",
                  x, index, bound(), 64 * format_.words - 1, format_.fraction_bits, contributions_,
                  format_.fraction_bits, contributions_));
}

double ExactSums::value(std::size_t index) const {
  assert(index < size());
  double integer;
  if (format_.words == 1) {
    integer = static_cast<double>(static_cast<std::int64_t>(words_[index]));
  } else {
    std::uint64_t low = words_[2 * index], high = words_[2 * index + 1];
    const bool negative = (high >> 63) != 0;
    if (negative) negate(low, high);
    integer = negative ? -to_double(low, high) : to_double(low, high);
  }
  return std::ldexp(integer, -format_.fraction_bits);
}

std::vector<double> ExactSums::values() const {
  std::vector<double> all(size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(i);
  return all;
}

}  // namespace fedpp::mpi
