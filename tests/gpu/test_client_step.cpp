// Every kernel of the client step against the plain reference, on one ragged batch; the ELBO rises at every update.
#include <gtest/gtest.h>

#include "gpu/cases.hpp"
#include "gpu/runtime.hpp"

namespace {

using namespace fedpp;
using reference::Kernel;
using test::DeviceBatch;
using test::host;
using test::Pieces;
using test::RandomClients;
using test::Size;

/// Sizes around the blocks of vectorised code (31, 32, 33), the smallest ones, more than one tile (257, 600 events),
/// realisations without events, without nodes, without either; a client without realisations; encoders, samples mixed.
std::vector<reference::Client> ragged_clients(unsigned seed) {
  RandomClients random(seed);
  const double day = 2 * 3.14159265358979 / 24, week = day / 7;
  const Kernel rbf{false, 1, 100, {}}, one{true, 1, 100, {}}, eight{true, 8, 168, {{day, 0.4}, {week, 1.1}}},
      wide{true, 32, 100, {}}, wide_periodic{true, 32, 50, {{day, 2}}}, sloping{true, 8, 100, {}, true},
      trend{false, 1, 2, {}, true};
  return {random.client(rbf, 1, {Size{1, 0, 5}, {2, 1, 9}, {31, 30, 40}}),
          random.client(one, 3, {Size{32, 257, 0}, {2, 0, 3}}),
          random.client(eight, 3, {Size{33, 30, 12}, {50, 1, 7}, {1, 0, 3}}),
          random.client(wide, 1, {}),
          random.client(wide, 1, {Size{50, 600, 100}, {33, 257, 40}, {2, 0, 1}}),
          random.client(rbf, 3, {Size{33, 0, 0}, {50, 600, 40}}),
          random.client(wide_periodic, 3, {Size{31, 30, 30}, {32, 1, 30}, {1, 30, 1}}),
          random.client(sloping, 3, {Size{20, 300, 31}, {2, 0, 3}, {1, 4, 0}}),
          random.client(trend, 1, {Size{5, 30, 10}})};
}

/// Two Choleskys of K with a relative jitter of 1e-3, whose condition number is up to 1e5, may differ by 1e-11 in V.
constexpr double kTolerance = 1e-10;
/// The adjoint solves with L' twice more.
constexpr double kGradientTolerance = 1e-9;

class ClientStep : public testing::TestWithParam<unsigned> {};

TEST_P(ClientStep, agrees_with_the_reference_on_a_ragged_batch) {
  const auto clients = ragged_clients(GetParam());
  std::vector<reference::Step> wanted;
  for (const auto& c : clients) wanted.push_back(reference::step(c));
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const DeviceBatch device(clients);
    const auto& b = device.batch;
    const auto& f = device.fields;
    const gpu::Exec exec;
    device.forward();
    gpu::augment(exec, b, f, true);
    gpu::elbo(exec, b, f);
    gpu::surrogate(exec, b, f);
    gpu::adjoint(exec, b, {b}, f, *device.encoder);
    Pieces kzz(f.kzz), inverse(f.inverse), k(f.k), v(f.v), projection(f.projection), variance(f.variance), c(f.c),
        xi(f.xi), lambda(f.lambda), alpha(f.alpha), beta(f.beta), surrogate(f.surrogate), gradient(f.gradient),
        elbo(f.elbo);
    gpu::update_variational(exec, b, f);
    gpu::update_rate(exec, b, f);
    gpu::update_offset(exec, b, f);
    Pieces v_mean(f.v_mean), v_factor(f.v_factor), rate(f.rate), offset(f.offset);
    Kokkos::deep_copy(f.offset_center, reference::Step::kOffsetCenter);
    gpu::update_offset(exec, b, f, reference::Step::kOffsetPrecision);
    Pieces offset_with_prior(f.offset);
    for (const int info : host(f.info)) EXPECT_EQ(info, 0);

    for (std::size_t client = 0; client < clients.size(); ++client) {
      SCOPED_TRACE("client " + std::to_string(client));
      const auto& model = clients[client];
      const auto& w = wanted[client];
      test::expect_close(elbo.take(1), {w.elbo}, kTolerance, "ELBO");
      test::expect_close(rate.take(1), {w.rate_next}, kTolerance, "m");
      test::expect_close(offset.take(1), {w.offset_next}, kTolerance, "nu");
      test::expect_close(offset_with_prior.take(1), {w.offset_next_with_prior}, kTolerance, "nu with a prior");
      for (std::size_t i = 0; i < model.realisations.size(); ++i) {
        SCOPED_TRACE("realisation " + std::to_string(i));
        const auto& r = model.realisations[i];
        const std::size_t m = r.inducing.size(), n = r.time.size();
        const auto& a = w.augmented[i];
        for (std::size_t s = 0; s < model.weights.size(); ++s) {
          SCOPED_TRACE("sample " + std::to_string(s));
          const auto& forward = w.forwards[i][s];
          test::expect_close(kzz.take(m * m), test::columns_of(forward.kzz), 1e-13, "K(z,z)");
          reference::Matrix identity(m, m);
          for (std::size_t j = 0; j < m; ++j) identity(j, j) = 1;
          test::expect_close(inverse.take(m * m), test::columns_of(forward_substitution(forward.l, identity)),
                             kTolerance, "L^-1");
          test::expect_close(k.take(m * n), test::columns_of(forward.k), 1e-13, "k(z,t)");
          test::expect_close(v.take(m * n), test::columns_of(forward.v), kTolerance, "V");
          auto mean = projection.take(n);
          for (double& x : mean) x += model.offset;
          test::expect_close(mean, forward.mean, kTolerance, "mean of f");
          test::expect_close(variance.take(n), forward.variance, kTolerance, "variance of f");
          test::expect_close(surrogate.take(1), {w.surrogate[i][s]}, kTolerance, "J");
        }
        test::expect_close(c.take(n), a.c, kTolerance, "c");
        test::expect_close(xi.take(n), a.xi, kTolerance, "xi");
        test::expect_close(lambda.take(n), a.lambda, kTolerance, "Lambda");
        test::expect_close(alpha.take(n), a.alpha, kTolerance, "alpha");
        test::expect_close(beta.take(n), a.beta, kTolerance, "beta");
        test::expect_close(v_mean.take(m), w.v_mean_next[i], kTolerance, "mu_v");
        test::expect_close(test::covariance_of(v_factor.take(m * m), m).entries, w.v_cov_next[i].entries, kTolerance,
                           "Sigma_v");
      }
      // The gradient: coordinates where they are few, else random directions, each of which meets every coordinate.
      const std::size_t p = model.kernel.parameters();
      RandomClients random(GetParam() + 100);
      for (std::size_t s = 0; s < model.weights.size(); ++s) {
        const auto got = gradient.take(p);
        const bool by_coordinate = p <= 4 || (p <= 50 && model.weights.size() * model.realisations.size() <= 9);
        const std::size_t directions = by_coordinate ? p : 5;
        std::vector<double> along_got, along_wanted;
        for (std::size_t direction = 0; direction < directions; ++direction) {
          reference::Vector e(p, 0.0);
          if (by_coordinate) {
            e[direction] = 1;
          } else if (direction < 2) {
            e[p - 2 + direction] = 1;
          } else {
            for (double& x : e) x = random.normal();
          }
          double got_along = 0, wanted_along = 0;
          for (std::size_t j = 0; j < p; ++j) got_along += got[j] * e[j];
          for (std::size_t i = 0; i < model.realisations.size(); ++i)
            wanted_along +=
                reference::surrogate_along(model, model.realisations[i], w.augmented[i], model.weights[s], e);
          along_got.push_back(got_along);
          along_wanted.push_back(wanted_along);
        }
        test::expect_close(along_got, along_wanted, kGradientTolerance, "dJ/dw of sample " + std::to_string(s));
      }
    }
    for (const Pieces* pieces :
         {&kzz, &inverse, &k, &v, &projection, &variance, &c, &alpha, &surrogate, &gradient, &v_mean, &v_factor})
      EXPECT_TRUE(pieces->all_taken());
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, ClientStep, testing::Values(1u, 2u));

/// The ELBO of each client at the present state.
std::vector<double> elbo_now(const DeviceBatch& d) {
  const gpu::Exec exec;
  gpu::moments(exec, d.batch, d.fields);
  gpu::augment(exec, d.batch, d.fields, true);
  gpu::elbo(exec, d.batch, d.fields);
  return host(d.fields.elbo);
}

TEST(Elbo, rises_at_every_coordinate_update) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      RandomClients random(seed);
      const Kernel rbf{false, 1, 100, {}}, deep{true, 8, 100, {}}, sloping{true, 8, 100, {}, true};
      const DeviceBatch device({random.client(rbf, 1, {Size{12, 40, 60}, {5, 0, 20}}),
                                random.client(deep, 3, {Size{20, 70, 60}}),
                                random.client(deep, 2, {Size{7, 300, 200}, {9, 2, 30}, {1, 1, 5}}),
                                random.client(sloping, 2, {Size{12, 60, 50}, {3, 0, 20}})});
      device.forward();
      const gpu::Exec exec;
      auto before = elbo_now(device);
      const auto rises = [&](const char* update, int sweep) {
        const auto after = elbo_now(device);
        for (std::size_t k = 0; k < after.size(); ++k) {
          ASSERT_TRUE(std::isfinite(after[k]));
          EXPECT_GE(after[k], before[k] - 1e-11 * std::fabs(before[k]))
              << update << ", sweep " << sweep << ", client " << k << ", seed " << seed;
        }
        before = after;
      };
      const auto first = before;
      for (int sweep = 0; sweep < 4; ++sweep) {
        gpu::update_variational(exec, device.batch, device.fields);
        rises("q(v)", sweep);
        gpu::update_rate(exec, device.batch, device.fields);
        rises("m", sweep);
        gpu::update_offset(exec, device.batch, device.fields);
        rises("nu", sweep);
      }
      for (std::size_t k = 0; k < first.size(); ++k) EXPECT_GT(before[k], first[k] + 1);
    }
  }
}

/// Mixed precision against the reference in double. What is formed in double and kept in single is right to half a unit
/// in the last place, 6e-8; moments are sums of M products of such numbers; F = Lp^-1 loses the condition of I + V
/// alpha V'; the gradient goes through L^-T, twice, and differences of what comes out (by log l): it keeps three digits
/// here.
TEST(MixedPrecision, stays_near_the_reference_in_double) {
  const auto clients = ragged_clients(1);
  std::vector<reference::Step> wanted;
  for (const auto& c : clients) wanted.push_back(reference::step(c));
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const DeviceBatch device(clients, gpu::Precision::kMixed);
    const auto& b = device.batch;
    const auto& f = device.fields;
    EXPECT_EQ(f.v.extent(0) + f.k.extent(0), 0u);
    const gpu::Exec exec;
    device.forward();
    gpu::augment(exec, b, f, true);
    gpu::elbo(exec, b, f);
    gpu::adjoint(exec, b, {b}, f, *device.encoder);
    Pieces k(f.k_single), v(f.v_single), projection(f.projection), variance(f.variance), gradient(f.gradient),
        elbo(f.elbo);
    gpu::update_variational(exec, b, f);
    Pieces v_mean(f.v_mean);
    for (std::size_t client = 0; client < clients.size(); ++client) {
      SCOPED_TRACE("client " + std::to_string(client));
      const auto& model = clients[client];
      const auto& w = wanted[client];
      test::expect_close(elbo.take(1), {w.elbo}, 1e-6, "ELBO");
      for (std::size_t i = 0; i < model.realisations.size(); ++i) {
        SCOPED_TRACE("realisation " + std::to_string(i));
        const std::size_t m = model.realisations[i].inducing.size(), n = model.realisations[i].time.size();
        for (std::size_t s = 0; s < model.weights.size(); ++s) {
          const auto& forward = w.forwards[i][s];
          test::expect_close(k.take(m * n), test::columns_of(forward.k), 7e-8, "k(z,t)");
          test::expect_close(v.take(m * n), test::columns_of(forward.v), 7e-8, "V");
          auto mean = projection.take(n);
          for (double& x : mean) x += model.offset;
          test::expect_close(mean, forward.mean, 1e-6, "mean of f");
          test::expect_close(variance.take(n), forward.variance, 1e-6, "variance of f");
        }
        test::expect_close(v_mean.take(m), w.v_mean_next[i], 1e-4, "mu_v");
      }
      RandomClients random(7);
      for (const auto& weights : model.weights) {
        const auto got = gradient.take(weights.size());
        std::vector<double> along_got, along_wanted;
        for (int direction = 0; direction < 4; ++direction) {
          reference::Vector e(weights.size(), 0.0);
          for (double& x : e) x = random.normal();
          along_got.push_back(0);
          for (std::size_t j = 0; j < e.size(); ++j) along_got.back() += got[j] * e[j];
          along_wanted.push_back(0);
          for (std::size_t i = 0; i < model.realisations.size(); ++i)
            along_wanted.back() += reference::surrogate_along(model, model.realisations[i], w.augmented[i], weights, e);
        }
        test::expect_close(along_got, along_wanted, 1e-3, "dJ/dw");
      }
    }
    for (const Pieces* pieces : {&k, &v, &projection, &variance, &gradient, &v_mean, &elbo})
      EXPECT_TRUE(pieces->all_taken());
  }
}

/// Realisations with equal inducing points share h(z), K(z,z), its factor and what the adjoint does with them. V and
/// the moments are the same bits as without that; the gradient, added up in another order, is the same number, and the
/// same bits for any chunks. In a mini-batch without the set's first realisation, too.
TEST(SharedInducingPoints, give_what_realisations_of_their_own_give) {
  RandomClients random(4);
  const Kernel rbf{false, 1, 100, {}}, wide{true, 32, 100, {}, true};
  std::vector<reference::Client> clients{
      random.client(rbf, 1, {Size{9, 20, 30}, {9, 300, 10}, {9, 4, 0}}),
      random.client(wide, 3, {Size{17, 30, 12}, {17, 0, 7}, {17, 12, 9}, {9, 8, 5}})};
  for (auto& client : clients)
    for (std::size_t i = 1; i < 3; ++i) client.realisations[i].inducing = client.realisations[0].inducing;
  for (const auto& name : test::dense_names())
    for (const bool mini_batch : {false, true}) {
      SCOPED_TRACE(name + (mini_batch ? ", mini-batch" : ""));
      const test::DenseChoice choice(name);
      const DeviceBatch apart(clients), shared(clients, gpu::Precision::kDouble, true),
          by_chunks(clients, gpu::Precision::kDouble, true);
      EXPECT_EQ(apart.batch.lengths.factor_square, 3 * 81 + 3 * (3 * 17 * 17 + 81));
      EXPECT_EQ(shared.batch.lengths.factor_square, 81 + 3 * (17 * 17 + 81));
      EXPECT_EQ(shared.batch.lengths.inducing_embedding, 9 + 3 * 32 * (17 + 9));
      const auto step = [&](const DeviceBatch& device, const std::vector<gpu::Batch>& chunks) {
        const gpu::Exec exec;
        const auto& b = device.batch;
        const auto& f = device.fields;
        if (mini_batch) {
          std::vector<double> scale(b.tiles, 1);
          std::vector<int> realisation;
          gpu::to_host(b.tile_realisation, realisation);
          for (int tile = 0; tile < b.tiles; ++tile)
            if (realisation[tile] == 0 || realisation[tile] == 3) scale[tile] = 0;
          Kokkos::deep_copy(f.tile_scale, gpu::to_device<double>("scale", scale));
        }
        for (const gpu::Batch& chunk : chunks) {
          gpu::embed(exec, chunk, f, *device.encoder, mini_batch);
          gpu::factorise(exec, chunk, f, gpu::kJitterLimit, mini_batch);
          gpu::features(exec, chunk, f, mini_batch);
        }
        gpu::augment(exec, b, f);
        gpu::adjoint(exec, b, chunks, f, *device.encoder);
      };
      step(apart, {apart.batch});
      step(shared, {shared.batch});
      step(by_chunks, gpu::chunks_of(by_chunks.batch, /*thread_bytes=*/1e-6));
      const auto gradient = test::host(shared.fields.gradient);
      test::expect_close(gradient, test::host(apart.fields.gradient), 1e-12, "dJ/dw");
      EXPECT_EQ(gradient, test::host(by_chunks.fields.gradient));
      if (!mini_batch) {
        EXPECT_EQ(test::host(apart.fields.v), test::host(shared.fields.v));
        EXPECT_EQ(test::host(apart.fields.variance), test::host(shared.fields.variance));
      }
    }
}

/// A step on one chunk after another leaves what it leaves on the whole batch, bit by bit.
TEST(Chunks, leave_every_bit_as_it_is) {
  const auto clients = ragged_clients(1);
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const DeviceBatch whole(clients), parts(clients);
    const auto chunks = gpu::chunks_of(parts.batch, /*thread_bytes=*/1e-6);
    if (gpu::on_host()) {
      ASSERT_EQ(static_cast<int>(chunks.size()), parts.batch.realisations - 1);  // the one without points joins another
    }
    const auto step = [](const DeviceBatch& device, const std::vector<gpu::Batch>& by) {
      const gpu::Exec exec;
      const auto& f = device.fields;
      for (const gpu::Batch& chunk : by) {
        gpu::embed(exec, chunk, f, *device.encoder);
        gpu::factorise(exec, chunk, f);
        gpu::features(exec, chunk, f);
        gpu::augment(exec, chunk, f);
        gpu::update_variational(exec, chunk, f);
        gpu::moments(exec, chunk, f);
        gpu::augment(exec, chunk, f, true);
      }
      gpu::elbo(exec, device.batch, f);
      gpu::adjoint(exec, device.batch, by, f, *device.encoder);
    };
    step(whole, {whole.batch});
    step(parts, chunks);
    EXPECT_EQ(test::host(whole.fields.v_mean), test::host(parts.fields.v_mean));
    EXPECT_EQ(test::host(whole.fields.variance), test::host(parts.fields.variance));
    EXPECT_EQ(test::host(whole.fields.elbo), test::host(parts.fields.elbo));
    EXPECT_EQ(test::host(whole.fields.gradient), test::host(parts.fields.gradient));
  }
}

TEST(Elbo, the_floor_of_m_holds_without_events) {
  RandomClients random(3);
  const DeviceBatch device({random.client({false, 1, 100, {}}, 1, {Size{5, 0, 20}})});
  device.forward();
  const gpu::Exec exec;
  gpu::augment(exec, device.batch, device.fields);
  gpu::update_rate(exec, device.batch, device.fields);
  double exposure = 0;
  for (const double weight : host(device.fields.node_weight)) exposure += weight;
  EXPECT_NEAR(host(device.fields.rate)[0], 0.5 / exposure, 1e-14);
}

TEST(Ties, merged_by_multiplicity_are_the_same_as_points_of_their_own) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    RandomClients random(11);
    auto merged = random.client({true, 8, 100, {}}, 2, {Size{15, 200, 60}, {9, 30, 30}});
    auto single = merged;
    for (auto& r : single.realisations) {
      reference::Vector time, multiplicity, node_weight;
      for (std::size_t n = 0; n < r.time.size(); ++n)
        for (int copy = 0; copy < std::max(1.0, r.multiplicity[n]); ++copy) {
          time.push_back(r.time[n]);
          multiplicity.push_back(r.multiplicity[n] > 0 ? 1 : 0);
          node_weight.push_back(r.node_weight[n]);
        }
      ASSERT_GT(time.size(), r.time.size());
      r.time = time;
      r.multiplicity = multiplicity;
      r.node_weight = node_weight;
    }
    const auto result = [](const reference::Client& client) {
      const DeviceBatch device({client});
      const gpu::Exec exec;
      const auto& b = device.batch;
      const auto& f = device.fields;
      device.forward();
      for (int sweep = 0; sweep < 3; ++sweep) {
        gpu::augment(exec, b, f);
        gpu::update_variational(exec, b, f);
        gpu::moments(exec, b, f);
        gpu::augment(exec, b, f);
        gpu::update_rate(exec, b, f);
        gpu::augment(exec, b, f);
        gpu::update_offset(exec, b, f);
        gpu::augment(exec, b, f, true);
      }
      gpu::elbo(exec, b, f);
      gpu::adjoint(exec, b, {b}, f, *device.encoder);
      return std::vector{host(f.v_mean), host(f.v_factor), host(f.rate),
                         host(f.offset), host(f.elbo),     host(f.gradient)};
    };
    const auto one = result(merged), other = result(single);
    for (std::size_t part = 0; part < one.size(); ++part)
      test::expect_close(one[part], other[part], 1e-10, "part " + std::to_string(part));
  }
}

}  // namespace
