// Functions of one number: exp, tanh, the augmentation, and the expectations of the intensity.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpu/cases.hpp"
#include "gpu/expectation.hpp"
#include "gpu/polya_gamma.hpp"

namespace {

using namespace fedpp;

/// f(x) where the kernels run.
template <class F>
std::vector<double> on_device(const std::vector<double>& x, const F& f) {
  const auto in = gpu::to_device<double>("x", x);
  const gpu::Array<double> out("y", x.size());
  Kokkos::parallel_for(
      "fedpp::test::function", Kokkos::RangePolicy<gpu::Exec>(0, x.size()),
      FEDPP_KERNEL(const int i) { out(i) = f(in(i)); });
  return test::host(out);
}
struct Exp {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return gpu::fast_exp(x); }
};
struct Log {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return gpu::fast_log(x); }
};
struct Tanh {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return gpu::fast_tanh(x); }
};
struct Log2CoshHalf {
  KOKKOS_INLINE_FUNCTION double operator()(double c) const { return gpu::log_2cosh_half(c); }
};
struct Xi {
  KOKKOS_INLINE_FUNCTION double operator()(double c) const { return gpu::augment_point(0, c).xi; }
};
struct Sigmoid {
  double share;  ///< E[f] = share c, in [-1, 1]
  KOKKOS_INLINE_FUNCTION double operator()(double c) const { return gpu::augment_point(share * c, c).sigmoid; }
};

std::vector<double> grid(double low, double high, int n) {
  std::vector<double> x;
  for (int i = 0; i <= n; ++i) x.push_back(low + (high - low) * i / n);
  return x;
}

TEST(Elementary, exp_over_its_range) {
  auto x = grid(-708, 708, 30011);
  for (const double y : grid(-1, 1, 1001)) x.push_back(y);
  for (const double y : {0.0, -0.0, 1e-300, -1e-17, 0.5 * std::log(2.0), -0.5 * std::log(2.0)}) x.push_back(y);
  const auto got = on_device(x, Exp{});
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(got[i] / std::exp(x[i]), 1, 5e-16) << x[i];
}

TEST(Elementary, exp_beyond_its_range_neither_overflows_to_nonsense_nor_hides_nan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto got = on_device({-infinity, -1e300, -709, 709, std::numeric_limits<double>::quiet_NaN()}, Exp{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(got[i], 0);
    EXPECT_LT(got[i], 1e-300);
  }
  EXPECT_GT(got[3], 1e307);
  EXPECT_TRUE(std::isfinite(got[3]));
  EXPECT_TRUE(std::isnan(got[4]));
}

TEST(Elementary, log_from_1_on) {
  auto x = grid(1, 5, 20011);
  for (const double y : grid(0, 300, 3001)) x.push_back(std::pow(10.0, y));
  for (const double y : {1.0, std::nextafter(1.0, 2.0), std::sqrt(2.0), std::nextafter(std::sqrt(2.0), 2.0), 2.0})
    x.push_back(y);
  const auto got = on_device(x, Log{});
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(got[i], std::log(x[i]), x[i] < 2 ? 2e-16 : 6e-16 * std::log(x[i])) << x[i];
  EXPECT_TRUE(std::isnan(on_device({std::numeric_limits<double>::quiet_NaN()}, Log{})[0]));
}

TEST(Elementary, tanh) {
  auto x = grid(-25, 25, 20001);
  for (const double y : {0.0, 1e-300, 1e-9, -1e-9, 400.0, -400.0, 1e300}) x.push_back(y);
  const auto got = on_device(x, Tanh{});
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(got[i], std::tanh(x[i]), 4e-16) << x[i];
  EXPECT_TRUE(std::isnan(on_device({std::numeric_limits<double>::quiet_NaN()}, Tanh{})[0]));
}

TEST(PolyaGamma, log_2cosh_never_overflows) {
  const std::vector<double> c{0, 1e-8, 0.3, 2, 30, 700, 1e5};
  const auto got = on_device(c, Log2CoshHalf{});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(got[i], std::log(2 * std::cosh(c[i] / 2)), 1e-15 * (1 + c[i]));
  EXPECT_NEAR(got[5], 350, 1e-12);
  EXPECT_NEAR(got[6], 5e4, 1e-9);
}

TEST(PolyaGamma, xi_is_tanh_over_2c_from_0_to_large) {
  std::vector<double> c{0, 1e-300, 1e-12, 1e-6, 9.99e-4, 1e-3, 1.01e-3, 2e-3, 0.1, 1, 10, 100, 1e4};
  const auto got = on_device(c, Xi{});
  for (std::size_t i = 0; i < c.size(); ++i) {
    // Below 1e-2 the series to c^6 is the more exact one of the two.
    const double x = c[i] * c[i];
    const double wanted =
        c[i] < 1e-2 ? 0.25 - x / 48 + x * x / 480 - 17 * x * x * x / 80640 : std::tanh(c[i] / 2) / (2 * c[i]);
    EXPECT_NEAR(got[i] / wanted, 1, 1e-12) << c[i];
  }
}

TEST(PolyaGamma, thinned_share) {
  for (const double share : {-1.0, -0.3, 0.0, 0.7, 1.0}) {
    const std::vector<double> c{0, 1e-9, 1e-3, 0.5, 3, 40, 600};
    const auto got = on_device(c, Sigmoid{share});
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double log_wanted = -0.5 * share * c[i] - (c[i] / 2 + std::log1p(std::exp(-c[i])));
      EXPECT_NEAR(std::log(got[i]), log_wanted, 1e-13 * (1 + std::fabs(log_wanted))) << share << ' ' << c[i];
    }
  }
}

/// E[f(mean + sd z)] by Simpson's rule on [-14, 14] with steps that are short against 1 and 1/sd.
template <class F>
double by_quadrature(double mean, double sd, const F& f) {
  const int n = 4 * static_cast<int>(200 * (1 + sd));
  double sum = 0, weight = 0;
  for (int i = 0; i <= n; ++i) {
    const double z = -14 + 28.0 * i / n;
    const double w = (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * std::exp(-z * z / 2);
    sum += w * f(mean + sd * z);
    weight += w;
  }
  return sum / weight;
}

TEST(Expectation, agrees_with_fine_quadrature) {
  std::vector<double> mean, variance;
  for (const double m : {-60.0, -8.0, -1.0, 0.0, 0.7, 5.0, 45.0})
    for (const double sd : {0.0, 1e-6, 0.1, 0.3, 0.4, 0.6, 1.0, 1.5, 3.0, 8.0, 20.0}) {
      mean.push_back(m);
      variance.push_back(sd * sd);
    }
  const double rate = 2.5;
  const gpu::Array<double> log_intensity("log", mean.size()), intensity("intensity", mean.size());
  gpu::expected_intensity(
      gpu::Exec(), gpu::to_device<double>("mean", mean), gpu::to_device<double>("variance", variance),
      gpu::to_device<double>("rate", std::vector<double>(mean.size(), rate)), log_intensity, intensity);
  const auto got_log = test::host(log_intensity), got = test::host(intensity);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    const double wanted = by_quadrature(mean[i], sd, [](double x) { return 1 / (1 + std::exp(-x)); });
    const double wanted_log = by_quadrature(
        mean[i], sd, [](double x) { return x > 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x)); });
    EXPECT_NEAR(got[i], rate * wanted, 2e-12 * rate) << mean[i] << ' ' << sd;
    EXPECT_NEAR(got_log[i], std::log(rate) + wanted_log, 1e-12 * (1 + std::fabs(wanted_log))) << mean[i] << ' ' << sd;
  }
}

/// Of a ragged batch: more columns than a tile, realisations without any, one sample and several.
TEST(Expectation, at_columns_is_the_mean_over_the_samples) {
  test::RandomClients random(11);
  const reference::Kernel rbf{false, 1, 100, {}}, sloping{true, 8, 100, {}, true};
  const std::vector<reference::Client> clients{random.client(rbf, 1, {{3, 4, 5}, {2, 0, 0}}), random.client(rbf, 2, {}),
                                               random.client(sloping, 5, {{5, 200, 101}, {1, 1, 0}})};
  const test::DeviceBatch device(clients);
  device.forward();
  const auto expected = gpu::expected_intensity(gpu::Exec(), device.batch, device.fields);
  test::Pieces mean(device.fields.projection), variance(device.fields.variance), got_log(expected.log_intensity),
      got(expected.intensity);
  for (const auto& client : clients)
    for (const auto& realisation : client.realisations) {
      const std::size_t samples = client.weights.size(), n = realisation.time.size();
      const auto mu = mean.take(samples * n), s = variance.take(samples * n);
      reference::Vector wanted_log(n), wanted(n);
      for (std::size_t at = 0; at < samples * n; ++at) {
        const double f = client.offset + mu[at], sd = std::sqrt(s[at]);
        wanted_log[at % n] += by_quadrature(f, sd, [&](double x) {
          return (std::log(client.rate) + (x > 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x)))) / samples;
        });
        wanted[at % n] += by_quadrature(f, sd, [&](double x) { return client.rate / (1 + std::exp(-x)) / samples; });
      }
      test::expect_close(got_log.take(n), wanted_log, 1e-11, "E[log lambda]");
      test::expect_close(got.take(n), wanted, 1e-11, "E[lambda]");
    }
  EXPECT_TRUE(mean.all_taken() && got_log.all_taken() && got.all_taken());
}

}  // namespace
