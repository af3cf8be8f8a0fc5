#include "model/client_step.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/encoder_operator.hpp"
#include "gpu/kernels.hpp"

namespace fedpp::model {

namespace {

using Cases = std::vector<const ClientStepCase*>;

void append(std::vector<double>& all, const std::vector<double>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

/// One client and one realisation a case: columns are the events in their order, then the nodes.
gpu::Batch batch_of(const Cases& cases) {
  std::vector<gpu::ClientExtent> clients;
  std::vector<gpu::RealisationExtent> realisations;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto& c = *cases[k];
    gpu::EncoderShape shape;
    shape.width = static_cast<int>(c.parameters / 2 - 1);
    clients.push_back({static_cast<int>(c.samples), gpu::make_encoder(shape)});
    realisations.push_back(
        {static_cast<int>(k), static_cast<int>(c.z.size()), static_cast<int>(c.events.size() + c.quad_t.size()), {}});
  }
  return gpu::make_batch(clients, realisations);
}

/// Points, weights and states of the cases, one behind the other.
void upload(const Cases& cases, gpu::Fields& f) {
  std::vector<double> input, count, weight, inducing_input, w, q_mean, q_factor, rate, offset, least, jitter;
  for (const ClientStepCase* next : cases) {
    const auto& c = *next;
    const auto append_inputs = [&](std::vector<double>& all, const std::vector<double>& times) {
      for (const double t : times) all.push_back(2 * t / c.window - 1);
    };
    append_inputs(input, c.events);
    append_inputs(input, c.quad_t);
    append(count, std::vector<double>(c.events.size(), 1.0));
    append(count, std::vector<double>(c.quad_t.size(), 0.0));
    append(weight, std::vector<double>(c.events.size(), 0.0));
    append(weight, c.quad_w);
    append_inputs(inducing_input, c.z);
    append(w, c.w);
    append(q_mean, c.q_mean);
    append(q_factor, c.q_factor);
    rate.push_back(c.m);
    offset.push_back(c.nu);
    least.push_back(0.5);
    jitter.push_back(c.jitter);
  }
  f.input = gpu::to_device<double>("input", input);
  f.multiplicity = gpu::to_device<double>("multiplicity", count);
  f.node_weight = gpu::to_device<double>("node_weight", weight);
  f.inducing_input = gpu::to_device<double>("inducing_input", inducing_input);
  f.weights = gpu::to_device<double>("weights", w);
  f.v_mean = gpu::to_device<double>("v_mean", q_mean);
  f.v_factor = gpu::to_device<double>("v_factor", q_factor);
  f.rate = gpu::to_device<double>("rate", rate);
  f.offset = gpu::to_device<double>("offset", offset);
  f.least_events = gpu::to_device<double>("least_events", least);
  f.base_jitter = gpu::to_device<double>("base_jitter", jitter);
}

/// The steps of an epoch; each update starts from the given state, so what it reads is not refreshed in between.
void run_steps(const gpu::Batch& b, gpu::Fields& f) {
  const gpu::Exec exec;
  const auto encoder = gpu::make_encoder_operator(b, f, true);
  gpu::embed(exec, b, f, *encoder);
  gpu::factorise(exec, b, f, /*jitter_limit=*/0);
  gpu::features(exec, b, f);
  gpu::augment(exec, b, f, /*with_bound=*/true);
  gpu::elbo(exec, b, f);
  gpu::surrogate(exec, b, f);
  gpu::adjoint(exec, b, {b}, f, *encoder);
  gpu::update_variational(exec, b, f);
  gpu::update_rate(exec, b, f);
  gpu::update_offset(exec, b, f);
  exec.fence();
}

/// An array of the batch on the host, handed out case by case.
template <class T>
class Reader {
 public:
  explicit Reader(const gpu::Array<T>& array) { gpu::to_host(array, values_); }
  /// The next n numbers.
  std::vector<T> take(std::size_t n) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(next_);
    next_ += n;
    return std::vector<T>(from, from + static_cast<std::ptrdiff_t>(n));
  }
  T take() { return values_[next_++]; }

 private:
  std::vector<T> values_;
  std::size_t next_ = 0;
};

/// F'F of a factor F, [m x m] lower, column-major.
std::vector<double> covariance_of(const std::vector<double>& factor, std::size_t m) {
  std::vector<double> covariance(m * m, 0.0);
  for (std::size_t r = 0; r < m; ++r)
    for (std::size_t c = 0; c < m; ++c)
      for (std::size_t i = std::max(r, c); i < m; ++i) covariance[r * m + c] += factor[i + r * m] * factor[i + c * m];
  return covariance;
}

std::vector<ClientStepAnswer> read_answers(const Cases& cases, const gpu::Fields& f) {
  Reader<int> info(f.info);
  Reader<double> pivot(f.pivot), kzz(f.kzz), projection(f.projection), variance(f.variance), cc(f.c), xi(f.xi),
      alpha(f.alpha), beta(f.beta), lambda(f.lambda), v_mean(f.v_mean), v_factor(f.v_factor), surrogate(f.surrogate),
      gradient(f.gradient), rate(f.rate), offset(f.offset), elbo(f.elbo);
  std::vector<ClientStepAnswer> answers;
  for (const ClientStepCase* next : cases) {
    const auto& c = *next;
    ClientStepAnswer a;
    const std::size_t s = c.samples, m = c.z.size(), n = c.events.size() + c.quad_t.size(), p = c.parameters;
    a.samples = s;
    a.inducing = m;
    a.points = n;
    a.events = c.events.size();
    a.parameters = p;
    const auto failed = info.take(s);
    const auto pivots = pivot.take(s);
    for (std::size_t sample = 0; sample < s && !a.failure; ++sample)
      if (failed[sample] != 0) a.failure = FailedPivot{sample, failed[sample] - 1, pivots[sample]};
    a.kzz = kzz.take(s * m * m);
    a.f_mean = projection.take(s * n);
    for (double& value : a.f_mean) value += c.nu;
    a.f_var = variance.take(s * n);
    a.c = cc.take(n);
    a.xi = xi.take(n);
    a.alpha = alpha.take(n);
    a.beta = beta.take(n);
    lambda.take(a.events);  // asked for at the nodes
    a.lambda = lambda.take(c.quad_t.size());
    a.q_mean_next = v_mean.take(m);
    a.q_cov_next = covariance_of(v_factor.take(m * m), m);
    a.surrogate = surrogate.take(s);
    a.grad_w = gradient.take(s * p);
    a.m_next = rate.take();
    a.nu_next = offset.take();
    a.elbo = elbo.take();
    answers.push_back(std::move(a));
  }
  return answers;
}

}  // namespace

std::optional<std::vector<double>> latent_factor(const std::vector<double>& covariance, std::size_t m) {
  std::vector<double> factor(m * m, 0.0);
  const auto f = [&](std::size_t r, std::size_t c) -> double& { return factor[r + c * m]; };
  for (std::size_t r = m; r-- > 0;) {  // the Cholesky factorisation from the last row upwards
    double pivot = covariance[r * m + r];
    for (std::size_t k = r + 1; k < m; ++k) pivot -= f(k, r) * f(k, r);
    if (!(pivot > 0)) return std::nullopt;
    f(r, r) = std::sqrt(pivot);
    for (std::size_t c = 0; c < r; ++c) {
      double entry = covariance[r * m + c];
      for (std::size_t k = r + 1; k < m; ++k) entry -= f(k, r) * f(k, c);
      f(r, c) = entry / f(r, r);
    }
  }
  return factor;
}

std::vector<ClientStepAnswer> client_steps(const std::vector<const ClientStepCase*>& cases) {
  if (cases.empty()) return {};
  const gpu::Batch batch = batch_of(cases);
  gpu::Fields fields = gpu::make_fields(batch, /*with_gradient=*/true);
  upload(cases, fields);
  run_steps(batch, fields);
  return read_answers(cases, fields);
}

}  // namespace fedpp::model
