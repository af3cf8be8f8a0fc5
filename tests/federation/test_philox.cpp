#include <gtest/gtest.h>

#include <cmath>

#include "gpu/philox.hpp"

namespace {
using fedpp::gpu::Philox;

void expect_block(Philox::Counter counter, Philox::Key key, Philox::Counter expected) {
  const auto random = Philox::block(counter, key);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(random[i], expected[i]) << "word " << i;
}

TEST(Philox, gives_the_known_answers_of_the_published_test_vectors) {
  const std::uint32_t ones = 0xffffffffu;
  expect_block({{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect_block({{ones, ones, ones, ones}}, {{ones, ones}}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_block({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}},
               {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Philox, uniforms_stay_inside_the_open_interval) {
  EXPECT_GT(Philox::uniform(0), 0.0);
  EXPECT_LT(Philox::uniform(~std::uint64_t{0}), 1.0);
  EXPECT_NEAR(Philox::uniform(std::uint64_t{1} << 63), 0.5, 1e-15);
}

TEST(Philox, normals_have_the_moments_of_a_standard_normal) {
  const int pairs = 200000;
  double sum = 0, square = 0, fourth = 0, cross = 0;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const auto z = Philox::normals(Philox::block({{i, 1, 2, 3}}, Philox::key(42)));
    for (const double x : {z.first, z.second}) {
      sum += x;
      square += x * x;
      fourth += x * x * x * x;
    }
    cross += z.first * z.second;
  }
  const double n = 2.0 * pairs;
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(cross / pairs, 0, 5 / std::sqrt(1.0 * pairs));
}
}  // namespace
