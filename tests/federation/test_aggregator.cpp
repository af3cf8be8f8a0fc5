#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "config/error.hpp"
#include "federation/aggregator.hpp"
#include "federation/mmd_barycentre.hpp"
#include "reference.hpp"

namespace {
using namespace fedpp::federation;
using fedpp::mpi::FixedPoint;
using reference::Case;
using reference::random_case;

Gaussian theta_of(std::size_t parameters, double mean = 0, double sd = 0.3) {
  return {std::vector<double>(parameters, mean), std::vector<double>(parameters, sd)};
}

Aggregation aggregate(const Case& input, Divergence rule, FixedPoint format = FixedPoint::one_word(40),
                      double bandwidth = 0, double old_mean = 0) {
  auto alone = fedpp::mpi::Communicator::self();
  const auto uploads = input.views();
  return Aggregator({rule, format, bandwidth}, alone).aggregate(theta_of(input.parameters, old_mean), uploads);
}

void expect_close(const std::vector<double>& x, const std::vector<double>& y, double tolerance) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance * std::max(1.0, std::fabs(y[i]))) << i;
}

TEST(Aggregator, closed_form_rules_equal_plain_loops) {
  for (const auto rule : {Divergence::kKl, Divergence::kW2, Divergence::kFedavg}) {
    for (unsigned seed = 0; seed < 5; ++seed) {
      const Case input = random_case(1 + 7 * seed, 20, 0.5, 0.4, 0.2, seed);
      const auto expected = reference::barycentre(input, rule);
      const auto coarse = aggregate(input, rule).theta;
      expect_close(coarse.mean, expected.mean, 1e-11);
      expect_close(coarse.sd, expected.sd, 1e-9);
      const auto fine = aggregate(input, rule, FixedPoint::two_words()).theta;
      expect_close(fine.mean, expected.mean, 1e-15);
      expect_close(fine.sd, expected.sd, 1e-14);
    }
  }
}

TEST(Aggregator, kl_minimises_the_weighted_sum_of_divergences) {
  const Case input = random_case(9, 1, 0, 1, 0.5, 3);
  const auto theta = aggregate(input, Divergence::kKl, FixedPoint::two_words()).theta;
  const auto objective = [&](double mu, double sigma) {
    double sum = 0;
    for (std::size_t c = 0; c < input.uploads.size(); ++c) {
      const double delta = input.uploads[c].sd[0], u = input.uploads[c].mean[0] - mu;
      sum += input.alpha(c) * 0.5 * ((u * u + delta * delta) / (sigma * sigma) - 2 * std::log(delta / sigma) - 1);
    }
    return sum;
  };
  const double best = objective(theta.mean[0], theta.sd[0]);
  for (const double h : {1e-3, 1e-2, 0.3}) {
    for (int i = 0; i < 8; ++i) {
      const double angle = i * std::acos(-1.0) / 4;
      EXPECT_GT(objective(theta.mean[0] + h * std::cos(angle), theta.sd[0] * std::exp(h * std::sin(angle))), best);
    }
  }
}

TEST(Aggregator, kl_variance_survives_means_far_from_zero_and_from_theta) {
  // Spec 2.1: r ~ 30, sd 1e-3; the raw second moment would lose all but two digits.
  const Case input = random_case(10, 5, 30, 1e-3, 1e-3, 4);
  const auto expected = reference::barycentre(input, Divergence::kKl);
  for (const double old_mean : {30.0, 29.9, 0.0}) {
    expect_close(aggregate(input, Divergence::kKl, FixedPoint::one_word(44), 0, old_mean).theta.sd, expected.sd, 1e-8);
    const auto fine = aggregate(input, Divergence::kKl, FixedPoint::two_words(), 0, old_mean).theta;
    for (int p = 0; p < 5; ++p) EXPECT_NEAR(fine.sd[p] / expected.sd[p], 1, 1e-10);
  }
}

TEST(Aggregator, weights_are_normalised_and_zero_weights_do_not_count) {
  Case input = random_case(4, 3, 0, 1, 0.5, 5);
  const auto theta = aggregate(input, Divergence::kW2, FixedPoint::two_words()).theta;
  Case scaled = input;
  for (auto& w : scaled.weights) w *= 4096;
  EXPECT_EQ(aggregate(scaled, Divergence::kW2, FixedPoint::two_words()).theta.mean, theta.mean);
  Case padded = input;
  padded.uploads.push_back({{7, 7, 7}, {1, 1, 1}});
  padded.weights.push_back(0);
  EXPECT_EQ(aggregate(padded, Divergence::kW2, FixedPoint::two_words()).theta.mean, theta.mean);
  std::fill(padded.weights.begin(), padded.weights.end(), 0.0);
  EXPECT_THROW(aggregate(padded, Divergence::kW2), fedpp::mpi::Error);
}

TEST(Aggregator, bad_uploads_are_rejected_by_client_and_reason) {
  const double nan = std::nan("");
  for (const Divergence rule : {Divergence::kKl, Divergence::kW2, Divergence::kFedavg, Divergence::kMmd}) {
    const Case good = random_case(3, 2, 0, 1, 0.5, 6);
    Case mixed = good;
    for (const Gaussian& bad : {Gaussian{{nan, 0}, {1, 1}}, Gaussian{{0, 0}, {1, HUGE_VAL}}, Gaussian{{0, 0}, {0, 1}},
                                Gaussian{{0, 0}, {1, -2}}}) {
      mixed.uploads.push_back(bad);
      mixed.weights.push_back(1);
    }
    const auto result = aggregate(mixed, rule);
    EXPECT_EQ(result.accepted, 3u);
    ASSERT_EQ(result.rejected.size(), 4u);
    EXPECT_EQ(result.rejected[0].client, 3);
    EXPECT_EQ(result.rejected[0].reason, "mean[0] = nan is not finite");
    EXPECT_EQ(result.rejected[1].reason, "sd[1] = inf is not finite");
    EXPECT_EQ(result.rejected[2].reason, "sd[0] = 0 is not positive");
    EXPECT_EQ(result.rejected[3].client, 6);
    EXPECT_EQ(result.rejected[3].reason, "sd[1] = -2 is not positive");
    const auto alone = aggregate(good, rule).theta;
    EXPECT_EQ(result.theta.mean, alone.mean);
    EXPECT_EQ(result.theta.sd, alone.sd);
  }
}

TEST(Aggregator, uploads_of_another_number_of_weights_are_rejected) {
  auto alone = fedpp::mpi::Communicator::self();
  const std::vector<double> one{0.5}, two{0.5, 0.6};
  const std::vector<Upload> uploads{{0, 1, two, two}, {1, 1, two, one}, {2, 1, one, two}};
  const AcceptedUploads accepted(alone, uploads, 2);
  EXPECT_EQ(accepted.count(), 1u);
  ASSERT_EQ(accepted.rejected().size(), 2u);
  EXPECT_EQ(accepted.rejected()[0].reason, "it has 2 means and 1 sds; the model has 2 weights");
}

TEST(Aggregator, theta_stays_where_nothing_is_accepted) {
  Case input = random_case(1, 2, 0, 1, 0.5, 7);
  input.uploads[0].sd[1] = 0;
  for (const Case& none : {input, Case{{}, {}, 2}}) {
    const auto result = aggregate(none, Divergence::kMmd, FixedPoint::one_word(40), 0, 0.25);
    EXPECT_EQ(result.accepted, 0u);
    EXPECT_EQ(result.theta.mean, (std::vector<double>{0.25, 0.25}));
    EXPECT_EQ(result.theta.sd, (std::vector<double>{0.3, 0.3}));
  }
}

TEST(Aggregator, uploads_beyond_the_sums_are_rejected_and_the_others_are_averaged) {
  for (const Divergence rule : {Divergence::kKl, Divergence::kW2, Divergence::kFedavg, Divergence::kMmd}) {
    const Case good = random_case(3, 2, 0, 1, 0.5, 8);
    const auto alone = aggregate(good, rule);
    for (const double size : {1e20, 1e155, 1e300}) {
      Case mixed = good;
      mixed.uploads.insert(mixed.uploads.begin() + 1, {{0, size}, {1, 1}});
      mixed.uploads.push_back({{0, 0}, {size, 1}});
      mixed.weights = {good.weights[0], 1, good.weights[1], good.weights[2], 1};
      const auto result = aggregate(mixed, rule);
      EXPECT_EQ(result.accepted, 3u);
      ASSERT_EQ(result.rejected.size(), 2u);
      EXPECT_EQ(result.rejected[0].client, 1);
      EXPECT_EQ(result.rejected[1].client, 4);
      EXPECT_NE(result.rejected[0].reason.find("to a sum, which holds up to"), std::string::npos);
      EXPECT_EQ(result.theta.mean, alone.theta.mean);
      EXPECT_EQ(result.theta.sd, alone.theta.sd);
    }
  }
}

TEST(Aggregator, an_upload_that_fits_only_beside_a_rejected_one_is_rejected_after_it) {
  // Weights 1e-3, 1, 1000: beside the last, whose value is beyond any sum, the second's alpha is small.
  Case input{{{{0}, {1}}, {{1e9}, {1}}, {{1e300}, {1}}}, {1e-3, 1, 1e3}, 1};
  const auto result = aggregate(input, Divergence::kW2);
  EXPECT_EQ(result.accepted, 1u);
  ASSERT_EQ(result.rejected.size(), 2u);
  EXPECT_EQ(result.rejected[0].client, 2);
  EXPECT_EQ(result.rejected[1].client, 1);
  EXPECT_EQ(result.theta.mean, std::vector<double>{0});
}

TEST(Aggregator, theta_stays_where_no_upload_fits) {
  const auto result =
      aggregate({{{{1e300}, {1}}, {{-1e300}, {1}}}, {1, 1}, 1}, Divergence::kKl, FixedPoint::one_word(40), 0, 2);
  EXPECT_EQ(result.accepted, 0u);
  EXPECT_EQ(result.rejected.size(), 2u);
  EXPECT_EQ(result.theta.mean, std::vector<double>{2});
}

TEST(Aggregator, a_variance_near_the_resolution_is_right_or_refused) {
  int refused = 0;
  for (const double sd : {1e-3, 1e-4, 4e-5, 2e-5, 5e-6, 1e-6}) {
    const Case input = random_case(20, 5, 0.3, 0.1 * sd, 0.1 * sd, 9);
    Case at = input;
    for (auto& upload : at.uploads) std::fill(upload.sd.begin(), upload.sd.end(), sd);
    try {
      const auto theta = aggregate(at, Divergence::kKl, FixedPoint::one_word(40), 0, 0.3).theta;
      const auto expected = reference::barycentre(at, Divergence::kKl);
      for (int p = 0; p < 5; ++p) EXPECT_NEAR(theta.sd[p] / expected.sd[p], 1, 5e-3) << sd;
    } catch (const fedpp::mpi::Error& error) {
      EXPECT_NE(std::string(error.what()).find("aggregation.fraction_bits"), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_EQ(refused, 3);
}

TEST(Aggregator, variances_below_the_resolution_are_an_error_not_a_zero) {
  const Case input = random_case(3, 2, 0, 1, 1e-9, 9);
  EXPECT_THROW(aggregate(input, Divergence::kFedavg), fedpp::mpi::Error);
  EXPECT_NO_THROW(aggregate(input, Divergence::kFedavg, FixedPoint::two_words(100)));
}

// --- mmd
// ---------------------------------------------------------------------------------------------------------------------

// Nelder-Mead on (mu, log sigma) from the kl answer: knows nothing of derivatives.
std::array<double, 2> nelder_mead(const Case& input, std::size_t p, std::array<double, 2> start, double d) {
  const auto f = [&](const std::array<double, 2>& x) {
    return reference::mmd_objective(input, p, x[0], std::exp(x[1]), d);
  };
  std::array<std::array<double, 2>, 3> x{start, start, start};
  x[1][0] += 0.1 * std::exp(start[1]);
  x[2][1] += 0.1;
  for (int i = 0; i < 2000; ++i) {
    std::sort(x.begin(), x.end(), [&](const auto& a, const auto& b) { return f(a) < f(b); });
    const auto along = [&](double t) {
      std::array<double, 2> y;
      for (int k = 0; k < 2; ++k) y[k] = 0.5 * (x[0][k] + x[1][k]) * (1 + t) - t * x[2][k];
      return y;
    };
    const auto reflected = along(1);
    if (f(reflected) < f(x[0])) {
      const auto expanded = along(2);
      x[2] = f(expanded) < f(reflected) ? expanded : reflected;
    } else if (f(reflected) < f(x[1])) {
      x[2] = reflected;
    } else {
      const auto contracted = along(f(reflected) < f(x[2]) ? 0.5 : -0.5);
      if (f(contracted) < f(x[2])) {
        x[2] = contracted;
      } else {
        for (int j = 1; j < 3; ++j)
          for (int k = 0; k < 2; ++k) x[j][k] = 0.5 * (x[0][k] + x[j][k]);
      }
    }
  }
  return x[0];
}

double best_on_grid(const Case& input, std::size_t p, double d) {
  double lowest = HUGE_VAL, low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& upload : input.uploads) {
    low = std::min(low, upload.mean[p]);
    high = std::max(high, upload.mean[p]);
  }
  for (int i = 0; i <= 200; ++i) {
    for (int j = 0; j <= 100; ++j) {
      const double mu = low + (high - low) * i / 200.0;
      const double sigma = 1e-3 * std::pow(1e4 * (high - low + 1), j / 100.0);
      lowest = std::min(lowest, reference::mmd_objective(input, p, mu, sigma, d));
    }
  }
  return lowest;
}

struct Setting {
  const char* name;
  int clients;
  double spread, sd, bandwidth;
};
class Mmd : public testing::TestWithParam<Setting> {};

TEST_P(Mmd, is_a_minimum_below_the_kl_answer) {
  const auto s = GetParam();
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Case input = random_case(s.clients, 4, 1.0, s.spread, s.sd, 100 + seed);
    const auto kl = reference::barycentre(input, Divergence::kKl);
    const auto result = aggregate(input, Divergence::kMmd, FixedPoint::one_word(40), s.bandwidth);
    const double d = result.bandwidth;
    EXPECT_EQ(result.mmd_unconverged, 0);
    for (std::size_t p = 0; p < input.parameters; ++p) {
      const double mu = result.theta.mean[p], sigma = result.theta.sd[p];
      const auto f = [&](double t, double l) {  // in units of the curvature's scale
        return d * reference::mmd_objective(input, p, mu + t * std::hypot(d, sigma), sigma * std::exp(l), d);
      };
      const double best = f(0, 0), h = 1e-4;
      EXPECT_LE(best, d * reference::mmd_objective(input, p, kl.mean[p], kl.sd[p], d) + 1e-14);
      EXPECT_NEAR((f(h, 0) - f(-h, 0)) / (2 * h), 0, 1e-8);
      EXPECT_NEAR((f(0, h) - f(0, -h)) / (2 * h), 0, 1e-8);
      for (int i = 0; i < 16; ++i) {
        const double angle = i * std::acos(-1.0) / 8;
        EXPECT_GE(f(1e-3 * std::cos(angle), 1e-3 * std::sin(angle)), best - 1e-15);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Barycentre, Mmd,
                         testing::Values(Setting{"typical", 10, 0.3, 0.1, 0}, Setting{"one_client", 1, 0.3, 0.1, 0.5},
                                         Setting{"narrow_band", 10, 0.3, 0.1, 0.05},
                                         Setting{"wide_band", 10, 0.3, 0.1, 10}, Setting{"far_apart", 5, 50, 0.1, 1},
                                         Setting{"far_apart_two", 2, 50, 0.01, 1},
                                         Setting{"very_far", 20, 1e3, 1e-3, 1e-2}, Setting{"tiny", 20, 1e-4, 1e-4, 0}),
                         [](const auto& info) { return info.param.name; });

TEST(Mmd, equals_nelder_mead_and_the_grid_where_uploads_overlap) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Case input = random_case(8, 2, -0.5, 0.5, 0.3, 200 + seed);
    const double d = 0.7;
    const auto theta = aggregate(input, Divergence::kMmd, FixedPoint::one_word(40), d).theta;
    const auto kl = reference::barycentre(input, Divergence::kKl);
    for (std::size_t p = 0; p < 2; ++p) {
      const auto expected = nelder_mead(input, p, {kl.mean[p], std::log(kl.sd[p])}, d);
      EXPECT_NEAR(theta.mean[p], expected[0], 1e-6);
      EXPECT_NEAR(std::log(theta.sd[p]), expected[1], 1e-6);
      EXPECT_LE(reference::mmd_objective(input, p, theta.mean[p], theta.sd[p], d), best_on_grid(input, p, d) + 1e-12);
    }
    auto alone = fedpp::mpi::Communicator::self();  // with the right second derivatives the last steps are quadratic
    const auto views = input.views();
    EXPECT_LE(mmd_barycentre(AcceptedUploads(alone, views, 2), {kl.mean, kl.sd}, d).evaluations, 8);
  }
}

TEST(Mmd, of_one_upload_is_that_upload) {
  const Case input = random_case(1, 6, 0, 1, 0.5, 11);
  for (const double d : {0.1, 1.0, 10.0}) {
    const auto theta = aggregate(input, Divergence::kMmd, FixedPoint::one_word(40), d).theta;
    expect_close(theta.mean, input.uploads[0].mean, 1e-12);
    expect_close(theta.sd, input.uploads[0].sd, 1e-8);
  }
}

/// What is left of F there is rounding, in which the sd was once sought.
TEST(Mmd, of_a_wide_kernel_is_the_barycentre_of_kl) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Case input = random_case(6, 4, 0.5, 0.4, 0.3, 300 + seed);
    const auto kl = reference::barycentre(input, Divergence::kKl);
    for (const double d : {30.0, 300.0, 1e3, 1e4, 1e6, 1e12, 1e100}) {
      const auto theta = aggregate(input, Divergence::kMmd, FixedPoint::one_word(40), d).theta;
      for (std::size_t p = 0; p < 4; ++p) {
        const double small = kl.sd[p] / d, tolerance = 2 * small * small + 1e-6;
        EXPECT_NEAR(theta.mean[p], kl.mean[p], tolerance * kl.sd[p]) << d;
        EXPECT_NEAR(theta.sd[p], kl.sd[p], tolerance * kl.sd[p]) << d;
      }
    }
  }
}

// dF/dsigma at mu = 0, for symmetric uploads; long double, since its zero is wanted to the last digits.
double slope(const Case& input, double sigma, double d) {
  const long double own = 1.0L * d * d + 4.0L * sigma * sigma;
  long double sum = -4.0L * sigma / (own * std::sqrt(own));
  for (std::size_t c = 0; c < input.uploads.size(); ++c) {
    const long double delta = input.uploads[c].sd[0], u = input.uploads[c].mean[0];
    const long double v = 1.0L * d * d + 2 * delta * delta + 2.0L * sigma * sigma;
    sum -= 8 * input.alpha(c) * sigma * std::exp(-u * u / v) / std::sqrt(v) * (u * u / v - 0.5L) / v;
  }
  return static_cast<double>(sum);
}

TEST(Mmd, leaves_a_saddle_that_it_is_started_at) {
  // A narrow pair and a far one: two minima in sigma at mu = 0, and between them a point without gradient.
  const Case input{{{{-0.05}, {0.01}}, {{0.05}, {0.01}}, {{-100}, {0.01}}, {{100}, {0.01}}}, {1, 1, 1, 1}, 1};
  const double d = 0.1;
  double low = 0.1, high = 0;
  for (; slope(input, low, d) < 0; low *= 1.1) ASSERT_LT(low, 1e3);  // beyond the first minimum F rises ...
  for (high = low; slope(input, high, d) > 0; high *= 1.1) ASSERT_LT(high, 1e3);  // ... up to the point between
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(input, middle, d) > 0 ? low : high) = middle;
  }
  auto alone = fedpp::mpi::Communicator::self();
  const auto views = input.views();
  const AcceptedUploads uploads(alone, views, 1);
  const auto result = mmd_barycentre(uploads, {{0.0}, {low}}, d);
  EXPECT_EQ(result.unconverged, 0);
  const double mu = result.theta.mean[0], sigma = result.theta.sd[0];
  EXPECT_GT(std::fabs(std::log(sigma / low)), 0.1);
  const auto f = [&](double m, double s) { return reference::mmd_objective(input, 0, m, s, d); };
  EXPECT_LT(f(mu, sigma), f(0, low));
  const double scale = std::hypot(d, sigma);
  for (int i = 0; i < 16; ++i) {
    const double angle = i * std::acos(-1.0) / 8;
    EXPECT_GT(f(mu + 1e-3 * scale * std::cos(angle), sigma * std::exp(1e-3 * std::sin(angle))), f(mu, sigma));
  }
}

TEST(Mmd, bandwidth_is_the_median_distance) {
  for (const int clients : {1, 4, 7}) {
    const Case input = random_case(clients, 5, 0, 1, 0.5, 12 + clients);
    const auto kl = reference::barycentre(input, Divergence::kKl);
    std::vector<double> distances;
    for (const auto& upload : input.uploads)
      for (int p = 0; p < 5; ++p) distances.push_back(std::fabs(upload.mean[p] - kl.mean[p]));
    std::sort(distances.begin(), distances.end());
    const double median = distances[(distances.size() + 1) / 2 - 1];
    const double expected = std::max(1e-3, std::sqrt(2.0) * median);
    EXPECT_NEAR(aggregate(input, Divergence::kMmd).bandwidth, expected, 1e-14);
  }
}
}  // namespace
