// The weights' side of an epoch: random draws, mini-batches, Adam; and what becomes of a K(z,z) that has no Cholesky
// factor.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "gpu/adam.hpp"
#include "gpu/cases.hpp"
#include "gpu/divergence.hpp"
#include "gpu/philox.hpp"
#include "gpu/team.hpp"

namespace {

using namespace fedpp;
using gpu::DrawKey;
using reference::Kernel;
using test::DeviceBatch;
using test::host;
using test::kDeep;
using test::RandomClients;
using test::Size;
using Vector = std::vector<double>;

/// A batch of clients by their global numbers, with r = 2 + 0.01 j and delta = 0.5 + 0.01 j.
struct Drawing {
  gpu::Batch batch;
  gpu::Fields fields;
  Drawing(const std::vector<std::int64_t>& ids, const std::vector<int>& samples, const Kernel& kernel = kDeep) {
    std::vector<gpu::ClientExtent> clients;
    Vector mean, sd;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      clients.push_back({samples[k], test::encoder_of(kernel)});
      for (std::size_t j = 0; j < kernel.parameters(); ++j) {
        mean.push_back(2 + 0.01 * static_cast<double>(j));
        sd.push_back(0.5 + 0.01 * static_cast<double>(j));
      }
    }
    batch = gpu::make_batch(clients, {});
    fields = gpu::make_fields(batch, true);
    fields.client_id = gpu::to_device<std::int64_t>("client_id", ids);
    fields.mean = gpu::to_device<double>("mean", mean);
    fields.sd = gpu::to_device<double>("sd", sd);
  }
  Vector noise(const DrawKey& key) const {
    gpu::draw_weights(gpu::Exec(), batch, fields, key);
    return host(fields.noise);
  }
};

TEST(DrawWeights, noise_is_standard_normal_and_the_weights_are_r_plus_delta_noise) {
  const Drawing drawing({5}, {2001});  // odd number of draws
  const auto noise = drawing.noise({7, 1, 2, 0});
  const auto weights = host(drawing.fields.weights);
  const std::size_t p = kDeep.parameters();
  const double n = static_cast<double>(noise.size());
  double sum = 0, square = 0, fourth = 0, neighbours = 0, samples = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double x = noise[i];
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    if (i > 0) neighbours += x * noise[i - 1];
    if (i >= p) samples += x * noise[i - p];
    const double j = static_cast<double>(i % p);
    ASSERT_NEAR(weights[i], 2 + 0.01 * j + (0.5 + 0.01 * j) * x, 1e-14);
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(neighbours / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(samples / n, 0, 5 / std::sqrt(n));
}

TEST(DrawWeights, depend_on_the_key_and_the_client_and_on_nothing_else) {
  const DrawKey key{7, 1, 2, 3};
  const auto alone = Drawing({5}, {3}).noise(key);
  const auto together = Drawing({9, 5, 2}, {2, 3, 4}).noise(key);
  const std::size_t p = kDeep.parameters();
  EXPECT_EQ(alone, Vector(together.begin() + static_cast<long>(2 * p), together.begin() + static_cast<long>(5 * p)));
  EXPECT_EQ(alone, Drawing({5}, {3}).noise(key));
  // More samples continue the same stream.
  const auto more = Drawing({5}, {4}).noise(key);
  EXPECT_EQ(alone, Vector(more.begin(), more.begin() + static_cast<long>(3 * p)));
  // Whatever part of the key differs, no number comes twice.
  std::set<double> seen(alone.begin(), alone.end());
  std::size_t drawn = alone.size();
  const auto add = [&](const Vector& noise) {
    seen.insert(noise.begin(), noise.end());
    drawn += noise.size();
  };
  for (const DrawKey& other :
       {DrawKey{8, 1, 2, 3}, {7, 2, 2, 3}, {7, 1, 3, 3}, {7, 1, 2, 4}, {7, 1, 3, 2}, {7, 2, 1, 3}})
    add(Drawing({5}, {3}).noise(other));
  add(Drawing({6}, {3}).noise(key));
  EXPECT_EQ(seen.size(), drawn);
}

/// Realisations of about `tiles` tiles each.
std::vector<reference::Client> tiled_clients(const std::vector<std::vector<int>>& tiles, const Kernel& kernel,
                                             int samples) {
  RandomClients random(4);
  std::vector<reference::Client> clients;
  for (const auto& realisations : tiles) {
    std::vector<Size> sizes;
    for (const int n : realisations) sizes.push_back({4, n * gpu::tile_columns() / 2, n * gpu::tile_columns() / 2});
    clients.push_back(random.client(kernel, samples, sizes));
  }
  return clients;
}

TEST(SelectBatch, takes_every_tile_once_an_epoch_with_unbiased_scales) {
  // Client 0: 5 realisations by 2; client 1: 2 by 2; client 2: none at all. Two slices of points.
  const DeviceBatch device(tiled_clients({{4, 4, 2, 2, 6}, {2, 4}, {}}, {false, 1, 100, {}}, 1));
  ASSERT_EQ(device.batch.tiles, 24);
  const gpu::Index steps[] = {gpu::steps_in_epoch(5, 2, 0.5), gpu::steps_in_epoch(2, 2, 0.5),
                              gpu::steps_in_epoch(0, 2, 0.5)};
  ASSERT_EQ(steps[0], 6);
  ASSERT_EQ(steps[1], 2);
  ASSERT_EQ(steps[2], 2);
  const auto tile_realisation = host(device.batch.tile_realisation), realisation_client = host(device.batch.client);
  const int sizes[] = {4, 4, 2, 2, 6, 2, 4}, count[] = {5, 2};
  std::set<std::vector<double>> selections;
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<int> times(24, 0);
    Vector dealt;
    for (std::uint32_t step = 0; step < 6; ++step) {
      gpu::select_batch(gpu::Exec(), device.batch, device.fields, {3, 1, epoch, step}, 2, 0.5);
      const auto scale = host(device.fields.tile_scale);
      dealt.insert(dealt.end(), scale.begin(), scale.end());
      const auto taken = host(device.fields.step_taken);
      std::map<int, std::set<int>> chosen;  // realisations by client
      std::vector<int> tiles_chosen(7, 0);
      for (std::size_t tile = 0; tile < 24; ++tile) {
        if (scale[tile] == 0) continue;
        ++times[tile];
        ++tiles_chosen[static_cast<std::size_t>(tile_realisation[tile])];
        chosen[realisation_client[static_cast<std::size_t>(tile_realisation[tile])]].insert(tile_realisation[tile]);
      }
      for (int client = 0; client < 3; ++client)
        EXPECT_EQ(taken[static_cast<std::size_t>(client)] != 0, static_cast<int>(step) < steps[client]);
      for (const auto& [client, realisations] : chosen) {
        const double in_block = client == 0 && step >= 4 ? 1 : 2;
        EXPECT_EQ(static_cast<double>(realisations.size()), in_block);
        for (std::size_t tile = 0; tile < 24; ++tile) {
          const auto r = static_cast<std::size_t>(tile_realisation[tile]);
          if (scale[tile] != 0 &&
              realisation_client[r] == client) {  // R / B times tiles of the realisation / tiles chosen
            EXPECT_EQ(tiles_chosen[r], sizes[r] / 2);
            EXPECT_DOUBLE_EQ(scale[tile], count[client] / in_block * 2);
          }
        }
      }
    }
    for (const int n : times) EXPECT_EQ(n, 1);
    selections.insert(dealt);
  }
  EXPECT_EQ(selections.size(), 5u) << "every epoch deals anew";
}

/// Keys drawn one by one, as a mini-batch's definition has them.
std::vector<int> ranks_of(std::uint64_t seed, gpu::DrawPurpose purpose, std::uint32_t stream, std::int64_t client,
                          std::uint32_t round, std::uint32_t epoch, int count) {
  std::vector<std::uint64_t> keys;
  for (int j = 0; j < count; ++j)
    keys.push_back(gpu::Philox::bits64(gpu::random_bits(seed, purpose, (stream << 16) + static_cast<std::uint32_t>(j),
                                                        static_cast<std::uint32_t>(client), round, epoch << 12),
                                       0));
  std::vector<int> ranks;
  for (const auto own : keys)
    ranks.push_back(static_cast<int>(std::ranges::count_if(keys, [&](std::uint64_t key) { return key < own; })));
  return ranks;
}

TEST(SelectBatch, deals_by_the_ranks_of_keys_that_depend_on_nothing_else) {
  // The second realisation has more tiles than a team of a device ranks.
  const std::vector<int> tiles = {3, gpu::kHostBackend ? 30 : static_cast<int>(gpu::kSlab) + 44, 1};
  const DeviceBatch device(tiled_clients({tiles}, {false, 1, 100, {}}, 1));
  const auto id = host(device.fields.client_id)[0];
  const auto realisations = ranks_of(3, gpu::DrawPurpose::kRealisations, 0, id, 1, 2, 3);
  for (std::uint32_t step = 0; step < 8; ++step) {  // blocks of two and one realisations, four slices of points
    gpu::select_batch(gpu::Exec(), device.batch, device.fields, {3, 1, 2, step}, 2, 0.25);
    const auto scale = host(device.fields.tile_scale);
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const int used = std::min(4, tiles[i]), slice = static_cast<int>(step) % 4 % used;
      const auto own = ranks_of(3, gpu::DrawPurpose::kTiles, i + 1, id, 1, 2, tiles[i]);
      for (int t = 0; t < tiles[i]; ++t, ++at) {
        const bool chosen = realisations[i] / 2 == static_cast<int>(step) / 4 && own[t] % used == slice;
        ASSERT_EQ(scale[at] != 0, chosen) << "step " << step << ", realisation " << i << ", tile " << t;
      }
    }
  }
}

TEST(SelectBatch, means_over_epochs_are_unbiased_with_odd_sizes_too) {
  const int clients = 60, epochs = 50;  // clients deal apart from each other: many at once save launches
  const DeviceBatch device(
      tiled_clients(std::vector<std::vector<int>>(clients, {3, 1, 2, 5, 1}), {false, 1, 100, {}}, 1));
  const auto steps = gpu::steps_in_epoch(5, 2, 0.4);
  ASSERT_EQ(steps, 9);
  ASSERT_EQ(device.batch.tiles, 12 * clients);
  std::vector<double> mean(12, 0.0);
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (int step = 0; step < steps; ++step) {
      gpu::select_batch(gpu::Exec(), device.batch, device.fields,
                        {3, 1, static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(step)}, 2, 0.4);
      const auto scale = host(device.fields.tile_scale);
      for (std::size_t t = 0; t < scale.size(); ++t) mean[t % 12] += scale[t] / (steps * epochs * clients);
    }
  for (const double m : mean) EXPECT_NEAR(m, 1, 0.08);  // five standard errors
}

TEST(SelectBatch, gradients_of_an_epochs_mini_batches_average_to_the_full_gradient) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    const DeviceBatch device(tiled_clients({{2, 4, 2, 2}, {4, 2}}, kDeep, 2));
    const gpu::Exec exec;
    const auto& b = device.batch;
    const auto& f = device.fields;
    device.forward();
    gpu::augment(exec, b, f);
    gpu::adjoint(exec, b, {b}, f, *device.encoder);
    const auto full = host(f.gradient);
    Vector mean(full.size(), 0.0);
    const std::size_t p = kDeep.parameters();
    const gpu::Index steps[] = {gpu::steps_in_epoch(4, 2, 0.5), gpu::steps_in_epoch(2, 2, 0.5)};
    ASSERT_EQ(steps[0], 4);
    ASSERT_EQ(steps[1], 2);
    for (std::uint32_t step = 0; step < 4; ++step) {
      gpu::select_batch(exec, b, f, {1, 1, 1, step}, 2, 0.5);
      gpu::adjoint(exec, b, {b}, f, *device.encoder);
      const auto part = host(f.gradient);
      for (std::size_t j = 0; j < part.size(); ++j) {
        const bool first = j < 2 * p;
        if (first || step < 2) mean[j] += part[j] / steps[first ? 0 : 1];
      }
    }
    test::expect_close(mean, full, 1e-11, "mean of the mini-batches");
  }
}

TEST(SelectBatch, features_and_factors_outside_the_mini_batch_are_left_alone) {
  const DeviceBatch device(tiled_clients({{2, 2, 2, 2}}, kDeep, 1));
  const gpu::Exec exec;
  device.forward();
  const auto inverse = host(device.fields.inverse), v = host(device.fields.v), variance = host(device.fields.variance);
  gpu::select_batch(exec, device.batch, device.fields, {1, 1, 1, 0}, 1, 1);
  auto weights = host(device.fields.weights);
  for (double& w : weights) w += 0.1;
  Kokkos::deep_copy(device.fields.weights, gpu::to_device<double>("weights", weights));
  gpu::embed(exec, device.batch, device.fields, *device.encoder, true);
  gpu::factorise(exec, device.batch, device.fields, gpu::kJitterLimit, true);
  gpu::features(exec, device.batch, device.fields, true);
  const auto changed = [](const Vector& a, const Vector& b) {
    int parts = 0;
    for (std::size_t part = 0; part < 4; ++part) {
      const auto n = static_cast<long>(a.size() / 4), from = n * static_cast<long>(part);
      parts += !std::equal(a.begin() + from, a.begin() + from + n, b.begin() + from);
    }
    return parts;
  };
  EXPECT_EQ(changed(inverse, host(device.fields.inverse)), 1);
  EXPECT_EQ(changed(v, host(device.fields.v)), 1);
  EXPECT_EQ(changed(variance, host(device.fields.variance)), 1);
}

// ---- Adam

struct AdamReference {
  double first = 0, second = 0;
  int t = 0;
  double step(double gradient, double rate, const gpu::AdamOptions& o) {
    ++t;
    first = o.beta1 * first + (1 - o.beta1) * gradient;
    second = o.beta2 * second + (1 - o.beta2) * gradient * gradient;
    return rate * (first / (1 - std::pow(o.beta1, t))) / (std::sqrt(second / (1 - std::pow(o.beta2, t))) + o.epsilon);
  }
};

/// Value of the divergence by its own formula, for derivatives by central differences.
double divergence_value(const gpu::AdamOptions& o, double r, double delta, double mu, double sigma) {
  if (o.divergence == gpu::Divergence::kKl)
    return std::log(sigma / delta) + (delta * delta + (r - mu) * (r - mu)) / (2 * sigma * sigma) - 0.5;
  if (o.divergence == gpu::Divergence::kW2) return (r - mu) * (r - mu) + (delta - sigma) * (delta - sigma);
  const double d2 = o.bandwidth * o.bandwidth;
  const auto overlap = [&](double e, double a, double b) {  // E k(x, y), k a Gaussian kernel of variance d^2 / 2
    const double v = d2 + 2 * (a * a + b * b);
    return std::sqrt(d2 / v) * std::exp(-e * e / v);
  };
  return overlap(0, delta, delta) + overlap(0, sigma, sigma) - 2 * overlap(r - mu, delta, sigma);
}

TEST(Adam, agrees_with_a_plain_reference) {
  for (const auto divergence : {gpu::Divergence::kKl, gpu::Divergence::kW2, gpu::Divergence::kMmd})
    for (const auto map : {gpu::SdMap::kSoftplus, gpu::SdMap::kExp}) {
      gpu::AdamOptions o;
      o.divergence = divergence;
      o.sd_map = map;
      o.beta1 = 0.8;
      o.beta2 = 0.95;
      o.epsilon = 1e-2;  // so large that slopes near 0 do not magnify the error of the reference's differences
      o.schedule = 0.5;
      o.prior_weight = 0.7;
      o.bandwidth = 1.3;
      o.proximal = map == gpu::SdMap::kExp ? 0 : 2.5;
      const std::vector<int> samples{3, 1, 2};
      const Kernel wide{true, gpu::kSlab / 2 + 1, 100, {}};  // of more weights than a team takes
      Drawing drawing({0, 1, 2}, samples, wide);
      const auto& b = drawing.batch;
      const auto& f = drawing.fields;
      auto state = gpu::make_adam_state(b);
      const std::size_t p = wide.parameters(), n = 3 * p;
      RandomClients random(9);
      Vector prior_mean(n), prior_sd(n), centre(n), rate(n), raw(n), mean = host(f.mean), sd = host(f.sd);
      for (std::size_t j = 0; j < n; ++j) {
        prior_mean[j] = random.normal();
        prior_sd[j] = random.uniform(0.3, 1);
        centre[j] = random.normal();
        rate[j] = random.uniform(0.01, 0.1);
        sd[j] = random.uniform(0.1, 2);
        raw[j] = map == gpu::SdMap::kExp ? std::log(sd[j]) : std::log(std::exp(sd[j]) - 1);
      }
      Kokkos::deep_copy(f.sd, gpu::to_device<double>("sd", sd));
      state.prior_mean = gpu::to_device<double>("prior_mean", prior_mean);
      state.prior_sd = gpu::to_device<double>("prior_sd", prior_sd);
      state.centre = gpu::to_device<double>("centre", centre);
      state.learning_rate = gpu::to_device<double>("rate", rate);
      state.raw = gpu::to_device<double>("raw", raw);
      gpu::prior_divergence(gpu::Exec(), b, f, state, o);
      const auto divergences = host(state.divergence);
      for (std::size_t k = 0; k < 3; ++k) {
        double sum = 0;
        for (std::size_t j = k * p; j < (k + 1) * p; ++j)
          sum += o.prior_weight * divergence_value(o, mean[j], sd[j], prior_mean[j], prior_sd[j]);
        EXPECT_NEAR(divergences[k], sum, 1e-12 * std::fabs(sum));
      }
      std::vector<AdamReference> by_mean(n), by_raw(n);
      for (int step = 0; step < 4; ++step) {
        // Client 1 has no mini-batch in the second step.
        Kokkos::deep_copy(f.step_taken, gpu::to_device<int>("taken", std::vector<int>{1, step != 1, 1}));
        gpu::draw_weights(gpu::Exec(), b, f, {1, 1, 1, static_cast<std::uint32_t>(step)});
        Vector gradient(static_cast<std::size_t>(b.lengths.weights));
        for (double& g : gradient) g = 3 * random.normal();
        Kokkos::deep_copy(f.gradient, gpu::to_device<double>("gradient", gradient));
        const auto noise = host(f.noise);
        gpu::adam_step(gpu::Exec(), b, f, state, o);
        std::size_t weights = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const auto s = static_cast<std::size_t>(samples[k]);
          for (std::size_t j = 0; j < p && !(k == 1 && step == 1); ++j) {
            const std::size_t at = k * p + j;
            double g_mean = 0, g_sd = 0;
            for (std::size_t i = 0; i < s; ++i) {
              g_mean += gradient[weights + i * p + j] / samples[k];
              g_sd += gradient[weights + i * p + j] * noise[weights + i * p + j] / samples[k];
            }
            const auto value = [&](double r, double d) {
              return o.prior_weight * divergence_value(o, r, d, prior_mean[at], prior_sd[at]) +
                     0.5 * o.proximal * (r - centre[at]) * (r - centre[at]);
            };
            const double h = 1e-4;
            const auto slope = [&](const auto& at_offset) {
              return (8 * (at_offset(h) - at_offset(-h)) - (at_offset(2 * h) - at_offset(-2 * h))) / (12 * h);
            };
            g_mean -= slope([&](double e) { return value(mean[at] + e, sd[at]); });
            g_sd -= slope([&](double e) { return value(mean[at], sd[at] + e); });
            const double chain = map == gpu::SdMap::kExp ? sd[at] : 1 / (1 + std::exp(-raw[at]));
            mean[at] += by_mean[at].step(g_mean, o.schedule * rate[at], o);
            raw[at] += by_raw[at].step(g_sd * chain, o.schedule * rate[at], o);
            sd[at] = map == gpu::SdMap::kExp ? std::exp(raw[at]) : std::log(1 + std::exp(raw[at]));
          }
          weights += s * p;
        }
        // The reference's slopes are finite differences: 1e-12 / h.
        test::expect_close(host(f.mean), mean, 1e-8, "r");
        test::expect_close(host(state.raw), raw, 1e-8, "raw");
        test::expect_close(host(f.sd), sd, 1e-8, "delta");
      }
      EXPECT_EQ(host(state.steps), (std::vector<std::int64_t>{4, 3, 4}));
    }
}

TEST(Adam, sd_maps_and_their_inverses) {
  for (const auto map : {gpu::SdMap::kSoftplus, gpu::SdMap::kExp})
    for (const double sd : {1e-12, 1e-3, 0.3, 1.0, 29.9, 30.1, 200.0})
      EXPECT_NEAR(gpu::sd_of_raw(map, gpu::raw_of_sd(map, sd)) / sd, 1, 1e-13) << sd;
}

// ---- jitter

/// A client whose inducing points all coincide: K(z,z) has rank one.
reference::Client coincident(const Kernel& kernel, int samples) {
  RandomClients random(2);
  auto client = random.client(kernel, samples, {Size{20, 10, 10}, {5, 3, 5}});
  for (double& z : client.realisations[0].inducing) z = 40;
  client.jitter = 0;
  for (auto& w : client.weights) w[w.size() - 2] = 0;  // r = 1: the second pivot is 0 exactly, not a rounding error
  return client;
}

TEST(Jitter, is_raised_until_the_factorisation_succeeds_and_reported) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    for (const Kernel& kernel : {Kernel{false, 1, 100, {}}, kDeep}) {
      const DeviceBatch device({coincident(kernel, 1)});
      device.forward();
      for (const int info : host(device.fields.info)) EXPECT_EQ(info, 0);
      const auto jitter = host(device.fields.jitter), kzz = host(device.fields.kzz);
      const auto inverted = host(device.fields.inverse);
      reference::Matrix inverse(20, 20), identity(20, 20);
      for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 20; ++j) inverse(i, j) = inverted[i + 20 * j];
        identity(i, i) = 1;
      }
      const auto l = reference::forward_substitution(inverse, identity);
      EXPECT_GE(jitter[0], 1e-12);
      EXPECT_LE(jitter[0], gpu::kJitterLimit);
      const auto weights = host(device.fields.weights);
      const double variance = std::exp(weights[kernel.parameters() - 2]);
      for (int i = 0; i < 20; ++i) {
        EXPECT_DOUBLE_EQ(kzz[static_cast<std::size_t>(21 * i)], variance * (1 + jitter[0]))
            << "the jitter reported is the one in K";
        for (int j = 0; j <= i; ++j) {
          double sum = 0;
          for (int k = 0; k <= j; ++k) sum += l(i, k) * l(j, k);
          EXPECT_NEAR(sum, kzz[static_cast<std::size_t>(i + 20 * j)], 1e-12 * variance);
        }
      }
      for (const double v : host(device.fields.v)) EXPECT_TRUE(std::isfinite(v));
    }
  }
}

TEST(Jitter, is_not_raised_where_that_is_forbidden) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    auto client = coincident({false, 1, 100, {}}, 1);
    const DeviceBatch device({client});
    gpu::embed(gpu::Exec(), device.batch, device.fields, *device.encoder);
    gpu::factorise(gpu::Exec(), device.batch, device.fields, 0);
    const auto info = host(device.fields.info);
    EXPECT_EQ(info[0], 2);
    EXPECT_EQ(info[1], 0);
    EXPECT_LE(host(device.fields.pivot)[0], 0);
  }
}

TEST(Jitter, a_factorisation_that_cannot_succeed_is_reported_until_the_end_and_harms_no_one) {
  for (const auto& name : test::dense_names()) {
    const test::DenseChoice choice(name);
    for (const Kernel& kernel : {Kernel{false, 1, 100, {}}, kDeep})
      for (const std::size_t back :
           {std::size_t{1}, std::size_t{2}, kernel.parameters()}) {  // log l, log r, the first weight
        RandomClients random(6);
        const auto healthy = random.client(kernel, 2, {Size{9, 20, 10}});
        auto broken = random.client(kernel, 2, {Size{9, 20, 10}, {1, 0, 4}});
        broken.weights[1][kernel.parameters() - back] = std::numeric_limits<double>::quiet_NaN();
        const DeviceBatch device({healthy, broken, healthy}), alone({healthy});
        device.forward();
        alone.forward();
        const auto info = host(device.fields.info);
        const auto v_broken = host(device.fields.v);
        for (std::size_t i = v_broken.size() - 2 * 9 * 30 - 4; i < v_broken.size() - 2 * 9 * 30; ++i)
          EXPECT_TRUE(std::isnan(v_broken[i])) << "what follows is not a number, either";
        // K's diagonal depends on r only: a NaN elsewhere fails at the second pivot, and one inducing point has none.
        const bool by_variance = back == 2;
        EXPECT_EQ(info, (std::vector<int>{0, 0, 0, by_variance ? 1 : 2, 0, by_variance, 0, 0})) << back;
        EXPECT_TRUE(std::isnan(host(device.fields.pivot)[3]));
        EXPECT_DOUBLE_EQ(host(device.fields.jitter)[3], gpu::kJitterLimit);
        // A later success does not wipe the report off.
        auto weights = host(device.fields.weights);
        for (double& w : weights)
          if (std::isnan(w)) w = 0;
        Kokkos::deep_copy(device.fields.weights, gpu::to_device<double>("weights", weights));
        gpu::embed(gpu::Exec(), device.batch, device.fields, *device.encoder);
        gpu::factorise(gpu::Exec(), device.batch, device.fields);
        EXPECT_EQ(host(device.fields.info), info);
        const auto v_alone = host(alone.fields.v);
        EXPECT_TRUE(std::equal(v_alone.begin(), v_alone.end(), v_broken.begin()));
        EXPECT_TRUE(std::equal(v_alone.rbegin(), v_alone.rend(), v_broken.rbegin()));
      }
  }
}

}  // namespace
