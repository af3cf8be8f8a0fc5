// E-steps against the plain reference: each of the closed forms is given what the one before it left.
#include <gtest/gtest.h>

#include "gpu/cases.hpp"
#include "model/e_steps.hpp"

namespace {

using namespace fedpp;
using reference::Kernel;
using test::Size;

/// q(v), then m, then nu; without a prior a client without events keeps its nu.
void sweep(reference::Client& client, bool prior_of_offset) {
  const auto of_v = reference::step(client);
  double events = 0;
  for (std::size_t i = 0; i < client.realisations.size(); ++i) {
    auto& r = client.realisations[i];
    r.v_mean = of_v.v_mean_next[i];
    r.factor = reference::factor_of(of_v.v_cov_next[i]);
    for (const double n : r.multiplicity) events += n;
  }
  client.rate = reference::step(client).rate_next;
  const auto of_offset = reference::step(client);
  if (prior_of_offset)
    client.offset = of_offset.offset_next_with_prior;
  else if (events > 0)
    client.offset = of_offset.offset_next;
}

class ESteps : public testing::TestWithParam<bool> {};

TEST_P(ESteps, are_the_closed_forms_in_turn) {
  test::RandomClients random(5);
  const Kernel rbf{false, 1, 100, {}}, sloping{true, 8, 100, {}, true};
  std::vector<reference::Client> clients{random.client(rbf, 1, {Size{9, 25, 30}, {5, 0, 12}}),
                                         random.client(sloping, 3, {Size{12, 40, 31}}),
                                         random.client(rbf, 2, {Size{6, 0, 20}})};
  const test::DeviceBatch device(clients);
  device.forward();
  Kokkos::deep_copy(device.fields.offset_center, reference::Step::kOffsetCenter);
  const int count = 2;
  model::e_steps(gpu::Exec(), device.batch, device.fields, count, GetParam() ? reference::Step::kOffsetPrecision : 0.0);
  gpu::elbo(gpu::Exec(), device.batch, device.fields);
  test::Pieces v_mean(device.fields.v_mean), v_factor(device.fields.v_factor), rate(device.fields.rate),
      offset(device.fields.offset), elbo(device.fields.elbo);
  for (auto& client : clients) {
    const double before = client.offset;
    for (int step = 0; step < count; ++step) sweep(client, GetParam());
    if (!GetParam() && &client == &clients.back()) {
      EXPECT_EQ(client.offset, before);
    }
    test::expect_close(rate.take(1), {client.rate}, 1e-9, "m");
    test::expect_close(offset.take(1), {client.offset}, 1e-8, "nu");
    test::expect_close(elbo.take(1), {reference::step(client).elbo}, 1e-9, "ELBO");
    for (const auto& r : client.realisations) {
      const std::size_t m = r.inducing.size();
      test::expect_close(v_mean.take(m), r.v_mean, 1e-8, "mu_v");
      test::expect_close(test::covariance_of(v_factor.take(m * m), m).entries, reference::covariance(r.factor).entries,
                         1e-8, "Sigma_v");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(offset, ESteps, testing::Bool(),
                         [](const auto& info) { return info.param ? "with_prior" : "without_prior"; });

}  // namespace
