// Mixtures of models and the step on them (gpu/mixture.hpp) against plain loops.
#include <gtest/gtest.h>

#include "gpu/cases.hpp"
#include "gpu/mixture.hpp"

namespace {
using namespace fedpp;
using test::host;
using test::kDeep;
using Vector = std::vector<double>;

constexpr int kModels = 3;

/// Two clients, of one and of three samples, that own models 2 and 0 of three; only the first takes the step where
/// `one`.
struct Mixed {
  std::size_t p = kDeep.parameters();
  std::vector<int> samples{1, 3}, own{2, 0};
  Vector models_mean, models_sd, own_mean, own_sd, share{0.2, 0.5, 0.3, 0.7, 0.0, 0.3}, anchor{0.1, 0.6, 0.3},
      scale{0.5, 0.02}, gradient, noise, raw, prior_mean, prior_sd;
  gpu::Batch batch;
  gpu::Fields fields;
  gpu::Mixture mixture;
  gpu::AdamState adam;
  gpu::AdamOptions options;

  explicit Mixed(bool one = false) {
    test::RandomClients random(3);
    const auto fill = [&](Vector& to, std::size_t n, double from, double spread) {
      for (std::size_t i = 0; i < n; ++i) to.push_back(from + spread * random.normal());
    };
    const auto positive = [](Vector& to) {
      for (double& x : to) x = 0.05 + std::fabs(x);
    };
    fill(models_mean, kModels * p, 0.3, 1);
    fill(models_sd, kModels * p, 0, 0.3);
    fill(own_mean, 2 * p, 0, 1);
    fill(own_sd, 2 * p, 0, 0.3);
    fill(gradient, 4 * p, 0, 2);
    fill(noise, 4 * p, 0, 1);
    fill(prior_mean, 2 * p, 0, 1);
    fill(prior_sd, 2 * p, 0, 1);
    for (auto* sd : {&models_sd, &own_sd, &prior_sd}) positive(*sd);
    for (const double sd : own_sd) raw.push_back(gpu::raw_of_sd(gpu::SdMap::kSoftplus, sd));

    batch = gpu::make_batch({{samples[0], test::encoder_of(kDeep)}, {samples[1], test::encoder_of(kDeep)}}, {});
    fields = gpu::make_fields(batch, true);
    const auto array = [](const Vector& values) { return gpu::to_device<double>("values", values); };
    fields.mean = array(Vector(2 * p, 0.0));
    fields.sd = array(Vector(2 * p, 1.0));
    fields.gradient = array(gradient);
    fields.noise = array(noise);
    fields.step_taken = gpu::to_device<int>("step_taken", std::vector<int>{1, one ? 0 : 1});
    mixture = {kModels,
               array(models_mean),
               array(models_sd),
               gpu::to_device<int>("own", own),
               array(own_mean),
               array(own_sd),
               array(share),
               array(anchor),
               array(scale),
               0.1,
               0.7,
               array(own_mean),
               array(own_mean),
               array(share)};
    adam = make_adam();
  }

  gpu::AdamState make_adam() const {
    auto state = gpu::make_adam_state(batch);
    state.prior_mean = gpu::to_device<double>("prior_mean", prior_mean);
    state.prior_sd = gpu::to_device<double>("prior_sd", prior_sd);
    state.learning_rate = gpu::to_device<double>("learning_rate", Vector(2 * p, 0.03));
    state.raw = gpu::to_device<double>("raw", raw);
    return state;
  }

  /// Entry j of model m of client k, its own being `own`.
  double entry(const Vector& models, const Vector& own_model, int k, int m, std::size_t j) const {
    return m == own[k] ? own_model[k * p + j] : models[m * p + j];
  }

  Vector mixed(const Vector& models, const Vector& own_model, const Vector& p_now) const {
    Vector result;
    for (int k = 0; k < 2; ++k)
      for (std::size_t j = 0; j < p; ++j) {
        double sum = 0;
        for (int m = 0; m < kModels; ++m) sum += p_now[k * kModels + m] * entry(models, own_model, k, m, j);
        result.push_back(sum);
      }
    return result;
  }
};

TEST(Mixture, is_the_sum_of_the_models_with_the_clients_own_among_them) {
  const Mixed m;
  gpu::mix(gpu::Exec(), m.batch, m.fields, m.mixture);
  test::expect_close(host(m.fields.mean), m.mixed(m.models_mean, m.own_mean, m.share), 1e-14, "means");
  test::expect_close(host(m.fields.sd), m.mixed(m.models_sd, m.own_sd, m.share), 1e-14, "sds");
}

/// Adam's fourth ascent, from given moments, at a rate of 0.03.
struct PlainAdam {
  double first, second;
  double operator()(const gpu::AdamOptions& o, double gradient) {
    first = o.beta1 * first + (1 - o.beta1) * gradient;
    second = o.beta2 * second + (1 - o.beta2) * gradient * gradient;
    return 0.03 * first / (1 - std::pow(o.beta1, 4)) / (std::sqrt(second / (1 - std::pow(o.beta2, 4))) + o.epsilon);
  }
};

TEST(Mixture, a_step_goes_along_the_gradient_by_the_shares_and_by_the_own_model) {
  for (const bool one : {false, true}) {
    Mixed m(one);
    m.options.prior_weight = 0.4;
    for (auto* moments : {&m.adam.first_mean, &m.adam.first_raw}) Kokkos::deep_copy(*moments, 0.2);
    for (auto* moments : {&m.adam.second_mean, &m.adam.second_raw}) Kokkos::deep_copy(*moments, 0.02);
    Kokkos::deep_copy(m.adam.steps, 3);
    const gpu::Exec exec;
    gpu::mix(exec, m.batch, m.fields, m.mixture);
    gpu::mixture_step(exec, m.batch, m.fields, m.adam, m.options, m.mixture);

    const auto mean = m.mixed(m.models_mean, m.own_mean, m.share), sd = m.mixed(m.models_sd, m.own_sd, m.share);
    Vector share = m.share, own_mean = m.own_mean, own_sd = m.own_sd;
    std::size_t first = 0;
    for (int k = 0; k < (one ? 1 : 2); ++k) {
      Vector by_mean(m.p), by_sd(m.p);
      for (std::size_t j = 0; j < m.p; ++j) {
        for (int s = 0; s < m.samples[k]; ++s) {
          const std::size_t w = first + s * m.p + j;
          by_mean[j] += m.gradient[w] / m.samples[k];
          by_sd[j] += m.gradient[w] * m.noise[w] / m.samples[k];
        }
        const std::size_t at = k * m.p + j;  // less the gradient of 0.4 KL
        by_mean[j] -= 0.4 * (mean[at] - m.prior_mean[at]) / (m.prior_sd[at] * m.prior_sd[at]);
        by_sd[j] -= 0.4 * (sd[at] / (m.prior_sd[at] * m.prior_sd[at]) - 1 / sd[at]);
      }
      first += m.samples[k] * m.p;
      Vector slopes;
      for (int model = 0; model < kModels; ++model) {
        double slope = 0;
        for (std::size_t j = 0; j < m.p; ++j)
          slope += by_mean[j] * m.entry(m.models_mean, m.own_mean, k, model, j) +
                   by_sd[j] * m.entry(m.models_sd, m.own_sd, k, model, j);
        slopes.push_back(m.scale[k] * slope - 0.7 * (share[k * kModels + model] - m.anchor[model]));
      }
      double sum = 0;
      for (int model = 0; model < kModels; ++model) {
        double& p = share[k * kModels + model];
        p = std::max(0.0, p + 0.1 * (slopes[model] - (slopes[0] + slopes[1] + slopes[2]) / kModels));
        sum += p;
      }
      for (int model = 0; model < kModels; ++model) share[k * kModels + model] /= sum;
      const double own_share = m.share[k * kModels + m.own[k]];
      for (std::size_t j = 0; j < m.p; ++j) {
        const std::size_t at = k * m.p + j;
        own_mean[at] += PlainAdam{0.2, 0.02}(m.options, own_share * by_mean[j]);
        const double d_raw = 1 - std::exp(-own_sd[at]);  // of softplus
        const double raw = m.raw[at] + PlainAdam{0.2, 0.02}(m.options, own_share * by_sd[j] * d_raw);
        own_sd[at] = std::log1p(std::exp(raw));
      }
    }
    test::expect_close(host(m.mixture.share), share, 1e-12, "shares");
    EXPECT_NE(share, m.share);
    test::expect_close(host(m.mixture.own_mean), own_mean, 1e-12, "own mean");
    test::expect_close(host(m.mixture.own_sd), own_sd, 1e-12, "own sd");
    test::expect_close(host(m.fields.mean), m.mixed(m.models_mean, own_mean, share), 1e-11, "means after the step");
    test::expect_close(host(m.fields.sd), m.mixed(m.models_sd, own_sd, share), 1e-11, "sds after the step");
  }
}

}  // namespace
