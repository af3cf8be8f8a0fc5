// The threads that share a column (gpu/lanes.hpp). Values are small integers, so that sums are exact in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gpu/cases.hpp"
#include "gpu/lanes.hpp"

namespace {

using namespace fedpp;

constexpr int kLongest = 70, kColumns = 2 * kLongest + 1;  // no multiple of what a team takes at once
constexpr double kStart = 5;

struct Result {
  std::vector<double> block, sum, largest;
};

/// Every column c with c % (kLongest + 1) rows: its sum and its largest entry but for kStart, which is then subtracted.
Result run(const std::vector<double>& entries) {
  const auto block = gpu::to_device<double>("block", entries);
  const gpu::Array<double> sum("sum", kColumns), largest("largest", kColumns);
  Kokkos::parallel_for(
      "fedpp::test::lanes", gpu::team_policy(gpu::Exec(), 1), FEDPP_KERNEL(const gpu::Member& member) {
        gpu::team_for_lanes(member, kColumns, [&](const gpu::Lanes& lanes, int c) {
          double* column = block.data() + c * kLongest;
          const int rows = c % (kLongest + 1);
          const double total = lanes.sum(rows, [=](int r) { return column[r]; });
          const double top = lanes.largest(kStart, rows, [=](int r) { return column[r]; });
          lanes.for_each(rows, [=](int r) { column[r] -= top; });
          if (lanes.first()) {
            sum(c) += total;  // once
            largest(c) += top;
          }
        });
      });
  return {test::host(block), test::host(sum), test::host(largest)};
}

TEST(Lanes, share_columns_of_every_length) {
  std::vector<double> entries(kColumns * kLongest);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<double>(i * 7919 % 41) - 30;
  const Result got = run(entries);
  for (int c = 0; c < kColumns; ++c) {
    const int rows = c % (kLongest + 1);
    double sum = 0, largest = kStart;
    for (int r = 0; r < rows; ++r) {
      sum += entries[c * kLongest + r];
      largest = std::max(largest, entries[c * kLongest + r]);
    }
    EXPECT_EQ(got.sum[c], sum) << c;
    EXPECT_EQ(got.largest[c], largest) << c;
    for (int r = 0; r < kLongest; ++r)
      ASSERT_EQ(got.block[c * kLongest + r], entries[c * kLongest + r] - (r < rows ? largest : 0)) << c << ' ' << r;
  }
}

TEST(Lanes, pass_over_what_is_no_number_where_the_largest_is_asked_for) {
  std::vector<double> entries(kColumns * kLongest, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < entries.size(); i += 3) entries[i] = static_cast<double>(i * 7919 % 41);
  const Result got = run(entries);
  for (int c = 0; c < kColumns; ++c) {
    double largest = kStart;
    for (int r = 0; r < c % (kLongest + 1); ++r) largest = std::fmax(entries[c * kLongest + r], largest);
    EXPECT_EQ(got.largest[c], largest) << c;
  }
}

}  // namespace
