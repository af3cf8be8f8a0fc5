#include "federation/probe_client_step.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace fedpp::federation {

model::ClientStepCase read_client_step(const ProbeInput& in) {
  model::ClientStepCase c;
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
  auto w = in.matrix("w");
  if (w.rows == 0 || w.columns < 4 || w.columns % 2 != 0)
    in.reject("w", fmt::format("is {} x {}: it must be S x (2D + 2) with S and D at least 1", w.rows, w.columns));
  c.samples = w.rows;
  c.parameters = w.columns;
  c.w = std::move(w.values);
  c.q_mean = in.vector("q_mean", c.z.size());
  const Matrix covariance = in.matrix("q_cov");
  if (covariance.rows != c.z.size() || covariance.columns != c.z.size())
    in.reject("q_cov", fmt::format("is {} x {} instead of {} x {}", covariance.rows, covariance.columns, c.z.size(),
                                   c.z.size()));
  auto factor = model::latent_factor(covariance.values, covariance.rows);
  if (!factor) in.reject("q_cov", "is not positive definite");
  c.q_factor = std::move(*factor);
  return c;
}

void expect_factors(const model::ClientStepAnswer& answer) {
  if (const auto& failed = answer.failure)
    throw MalformedCase(fmt::format("'z' and 'w': K(z,z) of sample {} is not positive definite (pivot {} is {:.3g})",
                                    failed->sample, failed->index, failed->pivot));
}

void write_client_step(const model::ClientStepAnswer& a, io::Group& out) {
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
