// The dense seam, both implementations, against plain loops.
#include <gtest/gtest.h>

#include <limits>

#include "gpu/cases.hpp"
#include "gpu/dense.hpp"

namespace {

using namespace fedpp;
using gpu::Array;
using gpu::Index;
using gpu::Member;
using gpu::Op;
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
struct Gemm {
  Op op_a, op_b;
  int m, n, k;
  double alpha;
  const double* a;
  int lda;
  const double* b;
  int ldb;
  double beta;
  double* c;
  int ldc;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::gemm(member, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};
struct LowerProduct {
  int m, k;
  double alpha;
  const double *a, *b;
  double beta;
  double* c;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::lower_product(member, m, k, alpha, a, m, b, m, beta, c, m);
  }
};
struct TriangleTimes {
  int m, n;
  const double *l, *b;
  double* c;
  bool transposed = false;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (transposed)
      D::transposed_triangle_times(member, m, n, l, m, b, m, c, m);
    else
      D::triangle_times(member, m, n, l, m, b, m, c, m);
  }
};
struct InvertLower {
  int m;
  const double* l;
  double* inverse;
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    D::invert_lower(member, m, l, inverse);
  }
};
struct Potrf {
  int m;
  double* a;
  int* info;  ///< [team size]: what each thread was told
  template <class D>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    info[member.team_rank()] = D::potrf(member, m, a, m);
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
    in_a_team(Potrf{m, device.data(), info.data()});
    a = test::host(device);
    return test::host(info);
  }

  test::RandomClients random_{5};
  test::DenseChoice choice_{GetParam()};
};

const int kSizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 129};  // the last beyond host_product's rows

TEST_P(Dense, gemm) {
  for (const int m : kSizes)
    for (const auto& [n, k] : {std::pair{1, 7}, {5, 1}, {33, 31}, {400, 60}, {9, 150}})
      for (const Op op_a : {Op::kNone, Op::kTranspose})
        for (const Op op_b : {Op::kNone, Op::kTranspose})
          for (const double beta : {0.0, 1.0, -0.5}) {
            const int rows_a = op_a == Op::kNone ? m : k, rows_b = op_b == Op::kNone ? k : n;
            const int lda = rows_a + 2, ldb = rows_b + 1, ldc = m + 3;  // parts of larger arrays
            const auto columns = [](Op op, int plain, int transposed) { return op == Op::kNone ? plain : transposed; };
            const Vector a = random(static_cast<std::size_t>(lda * columns(op_a, k, m)));
            const Vector b = random(static_cast<std::size_t>(ldb * columns(op_b, n, k)));
            Vector c = random(static_cast<std::size_t>(ldc * n));
            if (beta == 0) c.assign(c.size(), std::numeric_limits<double>::quiet_NaN());  // must not be read
            const auto da = up(a), db = up(b), dc = up(c);
            in_a_team(Gemm{op_a, op_b, m, n, k, 1.5, da.data(), lda, db.data(), ldb, beta, dc.data(), ldc});
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
                  sum += a[static_cast<std::size_t>(op_a == Op::kNone ? i + p * lda : p + i * lda)] *
                         b[static_cast<std::size_t>(op_b == Op::kNone ? p + j * ldb : j + p * ldb)];
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
        in_a_team(LowerProduct{m, k, 2.0, da.data(), db.data(), beta, dc.data()});
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
      in_a_team(TriangleTimes{m, n, dz.data(), dx.data(), db.data()});
      const Vector product = test::host(db);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = 0;
          for (int p = 0; p <= i; ++p)
            sum += l[static_cast<std::size_t>(i + p * m)] * x[static_cast<std::size_t>(p + j * m)];
          ASSERT_NEAR(product[static_cast<std::size_t>(i + j * m)], sum, 1e-12);
        }
      const auto dt = up(Vector(x.size(), NAN));
      in_a_team(TriangleTimes{m, n, dz.data(), dx.data(), dt.data(), /*transposed=*/true});
      const Vector by_transposed = test::host(dt);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = 0;
          for (int p = i; p < m; ++p)
            sum += l[static_cast<std::size_t>(p + i * m)] * x[static_cast<std::size_t>(p + j * m)];
          ASSERT_NEAR(by_transposed[static_cast<std::size_t>(i + j * m)], sum, 1e-12);
        }
      const auto di = up(Vector(static_cast<std::size_t>(m * m), NAN)), by_inverse = up(Vector(x.size(), NAN));
      in_a_team(InvertLower{m, dl.data(), di.data()});
      in_a_team(TriangleTimes{m, n, di.data(), db.data(), by_inverse.data()});
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
