// The dense seam, both implementations, against plain loops.
#include <gtest/gtest.h>

#include <limits>

#include "gpu/cases.hpp"
#include "gpu/dense.hpp"

namespace {

using namespace fedpp;
using gpu::Array;
using gpu::Factor;
using gpu::Index;
using gpu::Matrix;
using gpu::Member;
using Vector = std::vector<double>;

template <class D, class F>
void launch(const F& f) {
  Kokkos::parallel_for(
      "fedpp::test::dense", gpu::team_policy(gpu::Exec(), 1),
      FEDPP_KERNEL(const Member& member) { f.template operator()<D>(member); });
  Kokkos::fence();
}

/// Calls f<Implementation>(member) in one team.
template <class F>
void in_a_team(const F& f) {
  gpu::with_dense([&]<class D>() { launch<D>(f); });
}

/// One call of one function on device arrays; functors, because device lambdas cannot be templates.
struct Product {
  double alpha;
  Factor<double> a, b;
  double beta;
  Matrix<double> c;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::product(member, alpha, a, b, beta, c);
  }
};
struct LowerProduct {
  double alpha;
  Matrix<const double> a, b;
  double beta;
  Matrix<double> c;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::lower_product(member, alpha, a, b, beta, c);
  }
};
struct TriangleTimes {
  Matrix<const double> l, b;
  Matrix<double> c;
  bool transposed = false;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (transposed)
      D::transposed_triangle_times(member, l, b, c);
    else
      D::triangle_times(member, l, b, c);
  }
};
struct InvertLower {
  Matrix<const double> l;
  Matrix<double> inverse;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::invert_lower(member, l, inverse);
  }
};
struct Potrf {
  Matrix<double> a;
  int* info;  ///< [team size]: what each thread was told
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    info[member.team_rank()] = D::potrf(member, a);
  }
};

Array<double> up(const Vector& values) { return gpu::to_device<double>("test", values); }

class Dense : public testing::TestWithParam<std::string> {
 protected:
  Vector random(std::size_t n) {
    Vector x(n);
    for (double& v : x) v = random_.normal();
    return x;
  }
  /// Lower triangle well away from singular, the upper one full of what must not be read.
  Vector lower(int m) {
    Vector l(static_cast<std::size_t>(m * m), std::numeric_limits<double>::quiet_NaN());
    for (int c = 0; c < m; ++c)
      for (int r = c; r < m; ++r)
        l[static_cast<std::size_t>(r + c * m)] = r == c ? random_.uniform(1, 2) : 0.5 * random_.normal() / std::sqrt(m);
    return l;
  }
  /// A A' + I.
  Vector positive(int m) {
    const Vector a = random(static_cast<std::size_t>(m * m));
    Vector p(a.size());
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        double sum = i == j ? 1 : 0;
        for (int k = 0; k < m; ++k)
          sum += a[static_cast<std::size_t>(i + k * m)] * a[static_cast<std::size_t>(j + k * m)];
        p[static_cast<std::size_t>(i + j * m)] = sum;
      }
    return p;
  }
  std::vector<int> factorise(int m, Vector& a) {
    const auto device = up(a);
    const Array<int> info("info", static_cast<std::size_t>(gpu::team_size()));
    in_a_team(Potrf{Matrix(device.data(), m, m), info.data()});
    a = test::host(device);
    return test::host(info);
  }

  test::RandomClients random_{5};
  test::DenseChoice choice_{GetParam()};
};

const int kSizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 129};  // the last beyond host_product's rows

TEST(Matrix, parts_are_parts_of_the_same_memory) {
  Vector x(20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const Matrix whole(x.data(), 5, 4);
  const Matrix part = whole.rows_from(1, 3).columns_from(2, 2);
  EXPECT_EQ(whole.size(), 20);
  EXPECT_EQ(part.rows, 3);
  EXPECT_EQ(part.columns, 2);
  EXPECT_EQ(part(0, 0), 11);
  EXPECT_EQ(part(2, 1), 18);
  EXPECT_EQ(part.column(1), x.data() + 16);
  const Factor<double> plain = part, turned = transposed(part);
  EXPECT_EQ(turned.rows, 2);
  EXPECT_EQ(turned.columns, 3);
  for (int r = 0; r < part.rows; ++r)
    for (int c = 0; c < part.columns; ++c) {
      EXPECT_EQ(plain.data[r * plain.down() + c * plain.right()], part(r, c));
      EXPECT_EQ(turned.data[c * turned.down() + r * turned.right()], part(r, c));
    }
}

TEST_P(Dense, product) {
  for (const int m : kSizes)
    for (const auto& [n, k] : {std::pair{1, 7}, {5, 1}, {33, 31}, {400, 60}, {9, 150}})
      for (const bool turn_a : {false, true})
        for (const bool turn_b : {false, true})
          for (const double beta : {0.0, 1.0, -0.5}) {
            const int rows_a = turn_a ? k : m, columns_a = turn_a ? m : k;
            const int rows_b = turn_b ? n : k, columns_b = turn_b ? k : n;
            const int lda = rows_a + 2, ldb = rows_b + 1, ldc = m + 3;  // parts of larger arrays
            const Vector a = random(static_cast<std::size_t>(lda * columns_a));
            const Vector b = random(static_cast<std::size_t>(ldb * columns_b));
            Vector c = random(static_cast<std::size_t>(ldc * n));
            if (beta == 0) c.assign(c.size(), std::numeric_limits<double>::quiet_NaN());  // must not be read
            const auto da = up(a), db = up(b), dc = up(c);
            const Matrix ma(da.data(), rows_a, columns_a, lda), mb(db.data(), rows_b, columns_b, ldb);
            in_a_team(Product{1.5, turn_a ? transposed(ma) : Factor<double>(ma),
                              turn_b ? transposed(mb) : Factor<double>(mb), beta, Matrix(dc.data(), m, n, ldc)});
            const Vector got = test::host(dc);
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < ldc; ++i) {
                const auto at = static_cast<std::size_t>(i + j * ldc);
                if (i >= m) {  // rows that are not C's stay as they are
                  ASSERT_TRUE(got[at] == c[at] || (std::isnan(got[at]) && std::isnan(c[at])));
                  continue;
                }
                double sum = 0;
                for (int p = 0; p < k; ++p)
                  sum += a[static_cast<std::size_t>(turn_a ? p + i * lda : i + p * lda)] *
                         b[static_cast<std::size_t>(turn_b ? j + p * ldb : p + j * ldb)];
                ASSERT_NEAR(got[at], 1.5 * sum + (beta == 0 ? 0 : beta * c[at]), 1e-12)
                    << m << " x " << n << " x " << k;
              }
          }
}

TEST_P(Dense, symmetric_gives_the_lower_triangle) {
  for (const int m : kSizes)
    for (const int k : {1, 40, 150})
      for (const double beta : {0.0, 0.5}) {
        const Vector a = random(static_cast<std::size_t>(m * k));
        Vector b = a;  // A diag(x) A' is symmetric
        for (int p = 0; p < k; ++p)
          for (int i = 0; i < m; ++i) b[static_cast<std::size_t>(i + p * m)] *= 1 + 0.1 * p;
        const auto da = up(a), db = up(b), dc = up(Vector(static_cast<std::size_t>(m * m), beta == 0 ? NAN : -7.0));
        in_a_team(LowerProduct{2.0, Matrix(da.data(), m, k), Matrix(db.data(), m, k), beta, Matrix(dc.data(), m, m)});
        const Vector got = test::host(dc);
        for (int j = 0; j < m; ++j)
          for (int i = j; i < m; ++i) {
            double sum = 0;
            for (int p = 0; p < k; ++p)
              sum += a[static_cast<std::size_t>(i + p * m)] * b[static_cast<std::size_t>(j + p * m)];
            ASSERT_NEAR(got[static_cast<std::size_t>(i + j * m)], 2 * sum - 7 * beta, 1e-11) << m << " x " << k;
          }
      }
}

TEST_P(Dense, triangles_multiply_and_invert) {
  for (const int m : kSizes)
    for (const int n : {1, 3, 33}) {
      const Vector l = lower(m), x = random(static_cast<std::size_t>(m * n));
      Vector zeros_above = l;
      for (double& v : zeros_above) v = std::isnan(v) ? 0 : v;
      const auto dl = up(l), dz = up(zeros_above), dx = up(x), db = up(Vector(x.size(), NAN));
      const Matrix mz(dz.data(), m, m), mx(dx.data(), m, n), mb(db.data(), m, n);
      in_a_team(TriangleTimes{mz, mx, mb});
      const Vector product = test::host(db);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = 0;
          for (int p = 0; p <= i; ++p)
            sum += l[static_cast<std::size_t>(i + p * m)] * x[static_cast<std::size_t>(p + j * m)];
          ASSERT_NEAR(product[static_cast<std::size_t>(i + j * m)], sum, 1e-12);
        }
      const auto dt = up(Vector(x.size(), NAN));
      in_a_team(TriangleTimes{mz, mx, Matrix(dt.data(), m, n), /*transposed=*/true});
      const Vector by_transposed = test::host(dt);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = 0;
          for (int p = i; p < m; ++p)
            sum += l[static_cast<std::size_t>(p + i * m)] * x[static_cast<std::size_t>(p + j * m)];
          ASSERT_NEAR(by_transposed[static_cast<std::size_t>(i + j * m)], sum, 1e-12);
        }
      const auto di = up(Vector(static_cast<std::size_t>(m * m), NAN)), by_inverse = up(Vector(x.size(), NAN));
      const Matrix inverse(di.data(), m, m);
      in_a_team(InvertLower{Matrix(dl.data(), m, m), inverse});
      in_a_team(TriangleTimes{inverse, mb, Matrix(by_inverse.data(), m, n)});
      test::expect_close(test::host(by_inverse), x, 1e-11, "inverse times L x");
    }
}

TEST_P(Dense, potrf) {
  for (const int m : kSizes) {
    const Vector a = positive(m);
    Vector l = a;
    for (const int info : factorise(m, l)) EXPECT_EQ(info, 0);
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) {
        const auto at = static_cast<std::size_t>(i + j * m);
        if (i < j) {
          ASSERT_EQ(l[at], a[at]) << "the upper triangle is not potrf's";
          continue;
        }
        double sum = 0;
        for (int k = 0; k <= j; ++k)
          sum += l[static_cast<std::size_t>(i + k * m)] * l[static_cast<std::size_t>(j + k * m)];
        ASSERT_NEAR(sum, a[at], 1e-11 * m);
      }
  }
}

TEST_P(Dense, potrf_tells_every_thread_the_first_pivot_that_fails) {
  for (const int m : kSizes)
    for (const int bad : {0, m / 2, m - 1}) {
      Vector a = positive(m);
      a[static_cast<std::size_t>(bad * (m + 1))] = -1;
      for (const int info : factorise(m, a)) EXPECT_EQ(info, bad + 1) << m;
    }
}

TEST_P(Dense, potrf_takes_no_matrix_that_is_not_a_number) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const int m : kSizes) {
    Vector all(static_cast<std::size_t>(m * m), nan);
    for (const int info : factorise(m, all)) EXPECT_EQ(info, 1) << m;
    Vector a = positive(m);
    a[static_cast<std::size_t>(m * m - 1)] = nan;
    for (const int info : factorise(m, a)) EXPECT_EQ(info, m) << m;
    if (m < 2) continue;
    a = positive(m);
    a[static_cast<std::size_t>(m - 1)] = nan;  // last row, first column
    for (const int info : factorise(m, a)) EXPECT_EQ(info, m) << m;
  }
}

INSTANTIATE_TEST_SUITE_P(implementations, Dense, testing::ValuesIn(test::dense_names()),
                         [](const auto& test) { return test.param; });

TEST(DenseChoice, refuses_what_it_does_not_know) { EXPECT_THROW(gpu::choose_dense("magma"), std::invalid_argument); }

}  // namespace
