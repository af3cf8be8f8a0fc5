// E-steps on averages over the samples of the weights: an E-step of the plain reference, which knows samples alone.
#include <gtest/gtest.h>

#include "gpu/averages.hpp"
#include "gpu/cases.hpp"

namespace {

using namespace fedpp;
using reference::Kernel;
using test::DeviceBatch;
using test::Pieces;
using test::RandomClients;
using test::Size;

/// Sizes around the blocks of vectorised code, more than one tile, realisations without columns; samples around the
/// four that are added up at a time; means with slopes.
std::vector<reference::Client> clients() {
  RandomClients random(5);
  const Kernel rbf{false, 1, 100, {}}, wide{true, 32, 100, {}}, sloping{true, 8, 100, {}, true},
      trend{false, 1, 2, {}, true};
  return {random.client(rbf, 1, {Size{1, 0, 5}, {2, 1, 9}, {31, 30, 40}}),
          random.client(wide, 8, {Size{32, 600, 40}, {33, 0, 0}, {6, 10, 7}}), random.client(wide, 4, {}),
          random.client(sloping, 5, {Size{20, 300, 31}, {2, 0, 3}, {1, 4, 0}}),
          random.client(trend, 3, {Size{5, 30, 10}})};
}

TEST(Averages, give_the_e_step_of_the_samples) {
  constexpr double kTolerance = 1e-10;  // as of the step on samples (test_client_step.cpp)
  const auto all = clients();
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const DeviceBatch device(all);
    const auto& b = device.batch;
    const auto& f = device.fields;
    const gpu::Exec exec;
    device.forward();
    const auto averages = gpu::average(exec, b, f);
    gpu::moments(exec, averages, f);
    gpu::augment(exec, averages.batch, f, true);
    gpu::elbo(exec, b, f);
    Pieces c(f.c), lambda(f.lambda), alpha(f.alpha), beta(f.beta), elbo(f.elbo);
    gpu::update_variational(exec, averages, f);
    gpu::update_offset(exec, b, f);
    Pieces v_mean(f.v_mean), v_factor(f.v_factor), offset(f.offset);

    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE("client " + std::to_string(k));
      const auto wanted = reference::step(all[k]);
      test::expect_close(elbo.take(1), {wanted.elbo}, kTolerance, "ELBO");
      test::expect_close(offset.take(1), {wanted.offset_next}, kTolerance, "nu");
      for (std::size_t i = 0; i < all[k].realisations.size(); ++i) {
        SCOPED_TRACE("realisation " + std::to_string(i));
        const std::size_t m = all[k].realisations[i].inducing.size(), n = all[k].realisations[i].time.size();
        const auto& a = wanted.augmented[i];
        test::expect_close(c.take(n), a.c, kTolerance, "c");
        test::expect_close(lambda.take(n), a.lambda, kTolerance, "Lambda");
        test::expect_close(alpha.take(n), a.alpha, kTolerance, "alpha");
        test::expect_close(beta.take(n), a.beta, kTolerance, "beta");
        test::expect_close(v_mean.take(m), wanted.v_mean_next[i], kTolerance, "mu_v");
        test::expect_close(test::covariance_of(v_factor.take(m * m), m).entries, wanted.v_cov_next[i].entries,
                           kTolerance, "Sigma_v");
      }
    }
    EXPECT_TRUE(c.all_taken() && v_factor.all_taken());
  }
}

TEST(Averages, are_taken_where_they_pay) {
  const auto most = static_cast<gpu::Index>(gpu::kMostAverageBytes / sizeof(double));
  EXPECT_TRUE(gpu::averages_pay(4, 4, most, most));
  EXPECT_FALSE(gpu::averages_pay(3, 4, most, most));
  EXPECT_FALSE(gpu::averages_pay(4, 3, most, most));
  EXPECT_FALSE(gpu::averages_pay(4, 4, most + 1, most));
}

}  // namespace
