#include "federation/probe_client_step.hpp"

#include "gpu/kernels.hpp"

namespace fedpp::federation {

namespace {

/// F lower with Sigma = F'F, column-major: the Cholesky factorisation from the last row upwards. False where Sigma is
/// not positive definite.
bool reversed_cholesky(const Matrix& sigma, std::vector<double>& factor) {
  const std::size_t m = sigma.rows;
  factor.assign(m * m, 0.0);
  const auto f = [&](std::size_t r, std::size_t c) -> double& { return factor[r + c * m]; };
  for (std::size_t r = m; r-- > 0;) {
    double pivot = sigma.values[r * m + r];
    for (std::size_t k = r + 1; k < m; ++k) pivot -= f(k, r) * f(k, r);
    if (!(pivot > 0)) return false;
    f(r, r) = std::sqrt(pivot);
    for (std::size_t c = 0; c < r; ++c) {
      double entry = sigma.values[r * m + c];
      for (std::size_t k = r + 1; k < m; ++k) entry -= f(k, r) * f(k, c);
      f(r, c) = entry / f(r, r);
    }
  }
  return true;
}

}  // namespace

ClientStepCase read_client_step(const ProbeInput& in) {
  ClientStepCase c;
  c.window = in.number("T");
  c.jitter = in.number("jitter");
  c.nu = in.number("nu");
  c.m = in.number("m");
  if (!(c.window > 0)) in.reject("T", fmt::format("is {}: it must be positive", c.window));
  if (!(c.jitter >= 0)) in.reject("jitter", fmt::format("is {}: it must not be negative", c.jitter));
  if (!(c.m > 0)) in.reject("m", fmt::format("is {}: it must be positive", c.m));
  c.events = in.vector("events");
  c.z = in.vector("z");
  if (c.z.empty()) in.reject("z", "is empty: at least one inducing point is needed");
  c.quad_t = in.vector("quad_t");
  c.quad_w = in.vector("quad_w", c.quad_t.size());
  for (const double weight : c.quad_w)
    if (weight < 0) in.reject("quad_w", fmt::format("holds {}: quadrature weights are not negative", weight));
  c.w = in.matrix("w");
  if (c.w.rows == 0 || c.w.columns < 4 || c.w.columns % 2 != 0)
    in.reject("w", fmt::format("is {} x {}: it must be S x (2D + 2) with S and D at least 1", c.w.rows, c.w.columns));
  c.q_mean = in.vector("q_mean", c.z.size());
  const Matrix covariance = in.matrix("q_cov");
  if (covariance.rows != c.z.size() || covariance.columns != c.z.size())
    in.reject("q_cov", fmt::format("is {} x {} instead of {} x {}", covariance.rows, covariance.columns, c.z.size(),
                                   c.z.size()));
  if (!reversed_cholesky(covariance, c.q_factor)) in.reject("q_cov", "is not positive definite");
  return c;
}

std::vector<ClientStepAnswer> evaluate_client_steps(const std::vector<const ClientStepCase*>& cases) {
  std::vector<ClientStepAnswer> answers(cases.size());
  if (cases.empty()) return answers;
  // 1. One client and one realisation a case: columns are the events in their order, then the nodes.
  std::vector<gpu::ClientExtent> clients;
  std::vector<gpu::RealisationExtent> realisations;
  std::vector<double> input, count, weight, inducing_input, w, q_mean, q_factor, rate, offset, least, jitter;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto& c = *cases[k];
    gpu::EncoderShape shape;
    shape.width = static_cast<int>(c.w.columns / 2 - 1);
    clients.push_back({static_cast<int>(c.w.rows), gpu::make_encoder(shape)});
    realisations.push_back(
        {static_cast<int>(k), static_cast<int>(c.z.size()), static_cast<int>(c.events.size() + c.quad_t.size()), {}});
    const auto append_inputs = [&](std::vector<double>& all, const std::vector<double>& times) {
      for (const double t : times) all.push_back(2 * t / c.window - 1);
    };
    const auto append = [](std::vector<double>& all, const std::vector<double>& part) {
      all.insert(all.end(), part.begin(), part.end());
    };
    append_inputs(input, c.events);
    append_inputs(input, c.quad_t);
    append(count, std::vector<double>(c.events.size(), 1.0));
    append(count, std::vector<double>(c.quad_t.size(), 0.0));
    append(weight, std::vector<double>(c.events.size(), 0.0));
    append(weight, c.quad_w);
    append_inputs(inducing_input, c.z);
    append(w, c.w.values);
    append(q_mean, c.q_mean);
    append(q_factor, c.q_factor);
    rate.push_back(c.m);
    offset.push_back(c.nu);
    least.push_back(0.5);
    jitter.push_back(c.jitter);
  }
  const gpu::Batch b = gpu::make_batch(clients, realisations);
  gpu::Fields f = gpu::make_fields(b, true);
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

  // 2. The steps; each update starts from the given state, so what it reads is not refreshed in between.
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

  // 3. Out of the batch's arrays, case by case.
  std::vector<int> info;
  gpu::to_host(f.info, info);
  std::vector<double> kzz, projection, variance, cc, xi, alpha, beta, lambda, mean_next, factor_next, surrogate,
      gradient, rates, offsets, elbo, pivot;
  gpu::to_host(f.kzz, kzz);
  gpu::to_host(f.projection, projection);
  gpu::to_host(f.variance, variance);
  gpu::to_host(f.c, cc);
  gpu::to_host(f.xi, xi);
  gpu::to_host(f.alpha, alpha);
  gpu::to_host(f.beta, beta);
  gpu::to_host(f.lambda, lambda);
  gpu::to_host(f.v_mean, mean_next);
  gpu::to_host(f.v_factor, factor_next);
  gpu::to_host(f.surrogate, surrogate);
  gpu::to_host(f.gradient, gradient);
  gpu::to_host(f.rate, rates);
  gpu::to_host(f.offset, offsets);
  gpu::to_host(f.elbo, elbo);
  gpu::to_host(f.pivot, pivot);
  std::size_t column = 0, problem = 0, square = 0, vector = 0, matrix = 0, sample_column = 0, weights = 0;
  const auto take = [](const std::vector<double>& all, std::size_t from, std::size_t n) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(from),
                               all.begin() + static_cast<std::ptrdiff_t>(from + n));
  };
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto& c = *cases[k];
    auto& a = answers[k];
    const std::size_t s = c.w.rows, m = c.z.size(), n = c.events.size() + c.quad_t.size(), p = c.w.columns;
    a.samples = s;
    a.inducing = m;
    a.points = n;
    a.events = c.events.size();
    a.parameters = p;
    for (std::size_t sample = 0; sample < s && a.failure.empty(); ++sample)
      if (info[problem + sample] != 0)
        a.failure = fmt::format("'z' and 'w': K(z,z) of sample {} is not positive definite (pivot {} is {:.3g})",
                                sample, info[problem + sample] - 1, pivot[problem + sample]);
    a.kzz = take(kzz, square, s * m * m);
    a.f_mean = take(projection, sample_column, s * n);
    for (double& value : a.f_mean) value += c.nu;
    a.f_var = take(variance, sample_column, s * n);
    a.c = take(cc, column, n);
    a.xi = take(xi, column, n);
    a.alpha = take(alpha, column, n);
    a.beta = take(beta, column, n);
    a.lambda = take(lambda, column + a.events, c.quad_t.size());
    a.q_mean_next = take(mean_next, vector, m);
    a.q_cov_next.assign(m * m, 0.0);
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t col = 0; col < m; ++col)
        for (std::size_t i = std::max(r, col); i < m; ++i)  // F is lower
          a.q_cov_next[r * m + col] += factor_next[matrix + i + r * m] * factor_next[matrix + i + col * m];
    a.surrogate = take(surrogate, problem, s);
    a.grad_w = take(gradient, weights, s * p);
    a.m_next = rates[k];
    a.nu_next = offsets[k];
    a.elbo = elbo[k];
    column += n;
    problem += s;
    square += s * m * m;
    vector += m;
    matrix += m * m;
    sample_column += s * n;
    weights += s * p;
  }
  return answers;
}

void write_client_step(const ClientStepAnswer& a, io::Group& out) {
  const auto write = [&](const char* name, const std::vector<double>& values, const io::Shape& shape) {
    out.write(name, std::span<const double>(values), shape);
  };
  write("Kzz", a.kzz, {a.samples, a.inducing, a.inducing});  // symmetric: column-major is row-major
  write("f_mean", a.f_mean, {a.samples, a.points});
  write("f_var", a.f_var, {a.samples, a.points});
  out.write("c", a.c);
  out.write("xi", a.xi);
  out.write("alpha", a.alpha);
  out.write("beta", a.beta);
  out.write("lambda", a.lambda);
  out.write("q_mean_next", a.q_mean_next);
  write("q_cov_next", a.q_cov_next, {a.inducing, a.inducing});
  out.write_scalar("m_next", a.m_next);
  out.write_scalar("nu_next", a.nu_next);
  out.write_scalar("elbo", a.elbo);
  out.write("surrogate", a.surrogate);
  write("grad_w", a.grad_w, {a.samples, a.parameters});
}

}  // namespace fedpp::federation
