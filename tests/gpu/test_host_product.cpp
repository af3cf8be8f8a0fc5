// Products of small matrices on a host (gpu/host_product.hpp) against plain loops.
#include "gpu/host_product.hpp"

#if !defined(__CUDACC__) && !defined(__HIPCC__)  // a device's build has none

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace fedpp::gpu;

template <class T>
class HostProduct : public testing::Test {
 protected:
  std::vector<T> random(int n) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& v : x) v = static_cast<T>(normal_(engine_));
    return x;
  }
  /// A, B and C with more rows than the product takes.
  struct Operands {
    int m, n, k, lda, ldc;
    std::vector<T> a, b, c;
    Matrix<const T> a_matrix() const { return Matrix(a.data(), m, k, lda); }
    Matrix<const T> b_matrix() const { return Matrix(b.data(), k, n); }
    Matrix<T> in(std::vector<T>& result) const { return Matrix(result.data(), m, n, ldc); }
  };
  Operands operands(int m, int n, int k) {
    const int lda = m + 3, ldc = m + 2;
    return {m, n, k, lda, ldc, random(lda * k), random(k * n), random(ldc * n)};
  }

  std::mt19937_64 engine_{11};
  std::normal_distribution<double> normal_;
};
using Numbers = testing::Types<double, float>;
TYPED_TEST_SUITE(HostProduct, Numbers);

const int kRows[] = {1, 2, 3, 7, 8, 13, 31, 50, 64, 97, kMostRows};
const int kColumns[] = {1, 2, 5, 6, 13, 50};
const int kDepths[] = {0, 1, 63, 64, 65, 150};

TYPED_TEST(HostProduct, agrees_with_plain_loops) {
  using T = TypeParam;
  for (const int m : kRows)
    for (const int n : kColumns)
      for (const int k : kDepths)
        for (const T beta : {T(0), T(1), T(-0.5)})
          for (const bool transposed_b : {false, true}) {
            auto x = this->operands(m, n, k);
            if (beta == 0) std::fill(x.c.begin(), x.c.end(), std::numeric_limits<T>::quiet_NaN());  // must not be read
            const int step = transposed_b ? n : 1, column = transposed_b ? 1 : k;
            std::vector<T> at(static_cast<std::size_t>((k + 1) * m));  // A', one row more
            for (int i = 0; i < m; ++i)
              for (int p = 0; p < k; ++p)
                at[static_cast<std::size_t>(p + i * (k + 1))] = x.a[static_cast<std::size_t>(i + p * x.lda)];
            auto plain = x.c, by_transposed = x.c;
            const Factor<T> b = transposed_b ? transposed(Matrix(x.b.data(), n, k)) : Factor<T>(x.b_matrix());
            host_product(Part::kWhole, T(1.5), x.a_matrix(), b, beta, x.in(plain));
            host_product(Part::kWhole, T(1.5), transposed(Matrix(at.data(), k, m, k + 1)), b, beta,
                         x.in(by_transposed));
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < x.ldc; ++i) {
                const auto entry = static_cast<std::size_t>(i + j * x.ldc);
                if (i >= m) {  // rows that are not C's stay as they are
                  ASSERT_TRUE(plain[entry] == x.c[entry] || (std::isnan(plain[entry]) && std::isnan(x.c[entry])));
                  continue;
                }
                double sum = 0, size = 1;
                for (int p = 0; p < k; ++p) {
                  const double term = static_cast<double>(x.a[static_cast<std::size_t>(i + p * x.lda)]) *
                                      x.b[static_cast<std::size_t>(p * step + j * column)];
                  sum += term, size += std::abs(term);
                }
                const double expected = 1.5 * sum + (beta == 0 ? 0 : static_cast<double>(beta) * x.c[entry]);
                ASSERT_NEAR(plain[entry], expected, 8 * size * std::numeric_limits<T>::epsilon())
                    << m << " x " << n << " x " << k;
                ASSERT_EQ(plain[entry], by_transposed[entry]) << m << " x " << n << " x " << k;
              }
          }
}

TYPED_TEST(HostProduct, halves_are_those_of_the_whole) {
  using T = TypeParam;
  for (const int m : kRows) {
    // V (V alpha)' of a tile: lower triangle.
    for (const int k : kDepths) {
      auto x = this->operands(m, m, k);
      auto lower = x.c, whole = x.c;
      const auto b = transposed(Matrix(x.b.data(), m, k));
      host_product(Part::kLowerResult, T(2), x.a_matrix(), b, T(0.3), x.in(lower));
      host_product(Part::kWhole, T(2), x.a_matrix(), b, T(0.3), x.in(whole));
      for (int j = 0; j < m; ++j)
        for (int i = j; i < m; ++i)
          ASSERT_EQ(lower[static_cast<std::size_t>(i + j * x.ldc)], whole[static_cast<std::size_t>(i + j * x.ldc)])
              << m;
    }
    // L B.
    for (const int n : kColumns) {
      auto x = this->operands(m, n, m);
      for (int p = 0; p < m; ++p)
        for (int i = 0; i < p; ++i) x.a[static_cast<std::size_t>(i + p * x.lda)] = 0;
      auto half = x.c, whole = x.c;
      host_product(Part::kLowerTriangle, T(1), x.a_matrix(), x.b_matrix(), T(0), x.in(half));
      host_product(Part::kWhole, T(1), x.a_matrix(), x.b_matrix(), T(0), x.in(whole));
      for (std::size_t entry = 0; entry < half.size(); ++entry) ASSERT_EQ(half[entry], whole[entry]) << m << " x " << n;
      // L' B.
      half = whole = x.c;
      host_product(Part::kUpperTriangle, T(1), transposed(x.a_matrix()), x.b_matrix(), T(0), x.in(half));
      host_product(Part::kWhole, T(1), transposed(x.a_matrix()), x.b_matrix(), T(0), x.in(whole));
      for (std::size_t entry = 0; entry < half.size(); ++entry) ASSERT_EQ(half[entry], whole[entry]) << m << " x " << n;
    }
  }
}

TYPED_TEST(HostProduct, what_it_fetches_ahead_changes_no_bit) {
  using T = TypeParam;
  const int m = 50, n = 30;
  const auto x = this->operands(m, n, m);
  const std::vector<T> wanted = this->random(3000);
  for (const Part part : {Part::kWhole, Part::kLowerTriangle, Part::kLowerResult})
    for (const int length : {1, 100, 3000}) {  // fewer lines than the product has steps, and more
      auto without = x.c, with = x.c;
      const int columns = part == Part::kLowerResult ? m : n;
      without.resize(static_cast<std::size_t>(x.ldc * columns));
      with.resize(without.size());
      auto b = x.b;
      b.resize(static_cast<std::size_t>(m * columns));
      const Matrix b_matrix(b.data(), m, columns);
      host_product(part, T(2), x.a_matrix(), b_matrix, T(0), Matrix(without.data(), m, columns, x.ldc));
      host_product(part, T(2), x.a_matrix(), b_matrix, T(0), Matrix(with.data(), m, columns, x.ldc),
                   {wanted.data(), length});
      ASSERT_EQ(with, without);
    }
}

TYPED_TEST(HostProduct, an_entrys_bits_do_not_depend_on_how_many_others_there_are) {
  using T = TypeParam;
  for (const int k : kDepths)
    for (const T beta : {T(0), T(0.3)}) {
      const int m = 97, n = 13;
      const auto x = this->operands(m, n, k);
      auto together = x.c;
      host_product(Part::kWhole, T(0.7), x.a_matrix(), x.b_matrix(), beta, x.in(together));
      for (int first = 0; first < m; first += 5)
        for (int j = 0; j < n; ++j) {
          auto alone = x.c;
          host_product(Part::kWhole, T(0.7), x.a_matrix().rows_from(first, m - first), x.b_matrix().columns_from(j, 1),
                       beta, x.in(alone).rows_from(first, m - first).columns_from(j, 1));
          for (int i = first; i < m; ++i) {
            const auto entry = static_cast<std::size_t>(i + j * x.ldc);
            ASSERT_EQ(alone[entry], together[entry]) << "row " << i << " of rows from " << first << ", depth " << k;
          }
        }
    }
}

}  // namespace

#endif
