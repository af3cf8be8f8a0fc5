#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <string>

#include "mpi/exact_sum.hpp"

namespace fedpp::mpi {
void PrintTo(const FixedPoint& format, std::ostream* out) {
  *out << format.words << " word(s), " << format.fraction_bits << " fraction bits";
}
}  // namespace fedpp::mpi

namespace {
using fedpp::mpi::Error;
using fedpp::mpi::ExactSums;
using fedpp::mpi::FixedPoint;
__extension__ typedef __int128 int128;

std::vector<double> random_numbers(int n, double spread, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> x(n);
  for (auto& value : x) value = normal(engine) * std::exp2(std::uniform_int_distribution<int>(-30, 3)(engine));
  return x;
}

// Integer reference: round(x 2^k) by long double arithmetic (64 bits of mantissa), summed as 128-bit integers.
int128 reference_integer(const std::vector<double>& x, int fraction_bits) {
  int128 sum = 0;
  for (const double value : x) {
    sum += static_cast<int128>(std::nearbyint(std::ldexp(static_cast<long double>(value), fraction_bits)));
  }
  return sum;
}

std::string thrown_by_add(ExactSums sums, std::size_t index, double x) {
  try {
    sums.add(index, x);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class Formats : public testing::TestWithParam<FixedPoint> {};

TEST_P(Formats, sum_has_the_same_bits_in_any_order) {
  auto x = random_numbers(500, 10.0, 1);
  ExactSums whole(1, GetParam(), x.size());
  for (const double value : x) whole.add(0, value);
  std::mt19937 engine(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(x.begin(), x.end(), engine);
    ExactSums shuffled(1, GetParam(), x.size());
    for (const double value : x) shuffled.add(0, value);
    ASSERT_TRUE(std::ranges::equal(shuffled.words(), whole.words()));
    ASSERT_EQ(shuffled.value(0), whole.value(0));
  }
}

TEST_P(Formats, sum_equals_the_integer_reference) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto x = random_numbers(300, 10.0, seed);
    ExactSums sums(3, GetParam(), x.size());
    for (const double value : x) sums.add(1, value);
    const int128 reference = reference_integer(x, GetParam().fraction_bits);
    int128 integer = static_cast<std::int64_t>(sums.words()[1]);
    if (GetParam().words == 2) {
      integer = static_cast<int128>((static_cast<unsigned __int128>(sums.words()[3]) << 64) | sums.words()[2]);
    }
    ASSERT_TRUE(integer == reference);
    // g++ converts a 128-bit integer to the nearest double.
    EXPECT_EQ(sums.value(1), std::ldexp(static_cast<double>(reference), -GetParam().fraction_bits));
    EXPECT_EQ(sums.value(0), 0.0);
    EXPECT_EQ(sums.value(2), 0.0);
  }
}

TEST_P(Formats, not_finite_contributions_are_refused_by_index) {
  const ExactSums sums(5, GetParam(), 2);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto text = thrown_by_add(sums, 3, bad);
    EXPECT_NE(text.find("sum 3"), std::string::npos) << text;
    EXPECT_NE(text.find("not finite"), std::string::npos) << text;
  }
}

TEST_P(Formats, contributions_just_inside_the_bound_add_up_and_those_outside_are_refused) {
  for (const std::uint64_t terms : {1, 2, 3, 7, 200, 4099}) {
    ExactSums sums(2, GetParam(), terms);
    for (const double sign : {1.0, -1.0}) {
      const double most = sign * (sums.bound() * (1 - 1e-15) - std::ldexp(2.0, -GetParam().fraction_bits));
      int128 reference = 0;
      ExactSums fresh(1, GetParam(), terms);
      for (std::uint64_t i = 0; i < terms; ++i) {
        fresh.add(0, most);
        reference += static_cast<int128>(std::nearbyint(std::ldexp(most, GetParam().fraction_bits)));
      }
      EXPECT_EQ(fresh.value(0), std::ldexp(static_cast<double>(reference), -GetParam().fraction_bits));
      const auto text = thrown_by_add(sums, 1, sign * sums.bound());
      EXPECT_NE(text.find("sum 1"), std::string::npos) << text;
      EXPECT_NE(text.find("not below the bound"), std::string::npos) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ExactSum, Formats,
                         testing::Values(FixedPoint::one_word(40), FixedPoint::one_word(20), FixedPoint::one_word(0),
                                         FixedPoint::two_words(), FixedPoint::two_words(40), FixedPoint::two_words(90)),
                         [](const auto& info) {
                           return "words" + std::to_string(info.param.words) + "_bits" +
                                  std::to_string(info.param.fraction_bits);
                         });

TEST(ExactSum, carries_and_borrows_cross_the_word_boundary) {
  ExactSums sums(1, FixedPoint::two_words(64), 10);
  sums.add(0, 1 - 0x1p-53);  // low word nearly full
  sums.add(0, 0x1p-53);      // carries into the high word
  EXPECT_EQ(sums.words()[0], 0u);
  EXPECT_EQ(sums.words()[1], 1u);
  sums.add(0, -0x1p-64);  // borrows back
  EXPECT_EQ(sums.words()[0], ~std::uint64_t{0});
  EXPECT_EQ(sums.words()[1], 0u);
  EXPECT_EQ(sums.value(0), 1.0);  // 1 - 2^-64 rounds to 1
  sums.add(0, -1.0);
  EXPECT_EQ(sums.value(0), -0x1p-64);
  sums.add(0, 0x1p-64);
  EXPECT_EQ(sums.value(0), 0.0);
}

TEST(ExactSum, two_words_keep_what_one_double_cannot) {
  ExactSums sums(1, FixedPoint::two_words(64), 3);
  sums.add(0, 1e15);
  sums.add(0, 0x1p-60);
  sums.add(0, -1e15);
  EXPECT_EQ(sums.value(0), 0x1p-60);
}

TEST(ExactSum, conversion_rounds_to_nearest_with_ties_to_even) {
  struct Case {
    double a, b, expected;
  };
  const double ulp = 2.0;  // of doubles in [2^53, 2^54)
  const double base = 0x1p53;
  for (const auto& c : {Case{base, 1, base}, Case{base + ulp, 1, base + 2 * ulp}, Case{base, 1 + 0x1p-52, base + ulp},
                        Case{-base, -1, -base}, Case{-base - ulp, -1, -base - 2 * ulp}}) {
    ExactSums sums(1, FixedPoint::two_words(60), 2);
    sums.add(0, c.a);
    sums.add(0, c.b);
    EXPECT_EQ(sums.value(0), c.expected);
  }
}

TEST(ExactSum, contributions_are_rounded_to_nearest) {
  ExactSums sums(1, FixedPoint::one_word(2), 10);
  for (const auto& [x, expected] : {std::pair{0.125, 0.0}, {0.375, 0.5}, {0.126, 0.25}, {-0.375, -0.5}}) {
    ExactSums one = sums;
    one.add(0, x);
    EXPECT_EQ(one.value(0), expected) << x;
  }
}

/// 4096 contributions of 2^51 make 2^63, which no longer fits: what would be rounded to that is refused, too.
TEST(ExactSum, contributions_that_are_rounded_up_to_the_bound_are_refused) {
  const ExactSums sums(1, FixedPoint::one_word(0), 4096);
  EXPECT_FALSE(sums.holds(0x1p51 - 0.25));
  EXPECT_FALSE(sums.holds(0.25 - 0x1p51));
  EXPECT_TRUE(sums.holds(0x1p51 - 1));
}

TEST(ExactSum, intermediate_wraparound_does_not_matter) {
  // 2^62 + 2^62 wraps; the total fits again.
  ExactSums sums(1, FixedPoint::one_word(0), 1);
  for (const double x : {0x1p62, 0x1p62, -0x1p62 - 4096}) sums.add(0, x);
  EXPECT_EQ(sums.value(0), 0x1p62 - 4096);
}

TEST(ExactSum, impossible_formats_are_refused) {
  EXPECT_THROW(ExactSums(1, FixedPoint{3, 10}, 1), Error);
  EXPECT_THROW(ExactSums(1, FixedPoint::one_word(63), 1), Error);
  EXPECT_THROW(ExactSums(1, FixedPoint::one_word(-1), 1), Error);
  EXPECT_THROW(ExactSums(1, FixedPoint::two_words(127), 1), Error);
}
}  // namespace
