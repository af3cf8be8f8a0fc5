// The client step of theory 1.2 to 1.6 written once more as plain loops on the host, straight from the equations: no
// Kokkos, no BLAS, nothing shared with the kernels. Generic in the scalar, so that the gradient of J comes from dual
// numbers (forward mode), exact to rounding where finite differences would leave six or seven digits.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace fedpp::reference {

/// value + derivative e, e^2 = 0.
struct Dual {
  double value = 0, derivative = 0;
  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: constants mix with dual numbers
  Dual(double v, double d) : value(v), derivative(d) {}
};
inline Dual operator-(Dual a) { return {-a.value, -a.derivative}; }
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.derivative + b.derivative}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.derivative - b.derivative}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.derivative * b.value + a.value * b.derivative}; }
inline Dual operator/(Dual a, Dual b) {
  return {a.value / b.value, (a.derivative - a.value / b.value * b.derivative) / b.value};
}
inline Dual exp(Dual a) { return {std::exp(a.value), std::exp(a.value) * a.derivative}; }
inline Dual sqrt(Dual a) { return {std::sqrt(a.value), a.derivative / (2 * std::sqrt(a.value))}; }
inline Dual tanh(Dual a) {
  const double t = std::tanh(a.value);
  return {t, (1 - t * t) * a.derivative};
}
using std::exp;
using std::sqrt;
using std::tanh;

using Vector = std::vector<double>;

/// Row-major matrix.
template <class T>
struct MatrixOf {
  std::size_t rows = 0, columns = 0;
  std::vector<T> entries;
  MatrixOf() = default;
  MatrixOf(std::size_t r, std::size_t c) : rows(r), columns(c), entries(r * c, T(0)) {}
  T& operator()(std::size_t r, std::size_t c) { return entries[r * columns + c]; }
  const T& operator()(std::size_t r, std::size_t c) const { return entries[r * columns + c]; }
};
using Matrix = MatrixOf<double>;

/// Embedding, kernel and prior mean (1.2, 1.7). Weights: [W column by column (inputs x width), b (width), a (width,
/// where the mean is linear), log r, log l].
struct Kernel {
  bool deep = true;  ///< false: h(t) = t
  std::size_t width = 1;
  double window = 100;
  std::vector<std::pair<double, double>> periods;  ///< angular frequency, phase
  bool linear_mean = false;

  std::size_t slopes() const { return linear_mean ? width : 0; }
  std::size_t parameters() const { return (deep ? width * (2 + 2 * periods.size()) : 0) + slopes() + 2; }

  template <class T>
  std::vector<T> embed(const std::vector<T>& w, double t) const {
    if (!deep) return {T(t)};
    std::vector<T> h;
    for (std::size_t d = 0; d < width; ++d) {
      T sum = w[d] * T(2 * t / window - 1);
      std::size_t input = 1;
      for (const auto& [angular, phase] : periods) {
        sum = sum + w[input++ * width + d] * T(std::sin(angular * t + phase));
        sum = sum + w[input++ * width + d] * T(std::cos(angular * t + phase));
      }
      h.push_back(tanh(sum + w[input * width + d]));
    }
    return h;
  }

  /// a'h(t)
  template <class T>
  T trend(const std::vector<T>& w, double t) const {
    const auto h = embed(w, t);
    T sum = 0;
    for (std::size_t d = 0; d < slopes(); ++d) sum = sum + w[parameters() - 2 - slopes() + d] * h[d];
    return sum;
  }

  /// kappa(a, b), one row per a.
  template <class T>
  MatrixOf<T> operator()(const std::vector<T>& w, const Vector& a, const Vector& b) const {
    const std::size_t p = parameters();
    const T r = exp(w[p - 2]), l = exp(w[p - 1]);
    std::vector<std::vector<T>> ha, hb;
    for (const double t : a) ha.push_back(embed(w, t));
    for (const double t : b) hb.push_back(embed(w, t));
    MatrixOf<T> k(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) {
        T distance = 0;
        for (std::size_t d = 0; d < ha[i].size(); ++d)
          distance = distance + (ha[i][d] - hb[j][d]) * (ha[i][d] - hb[j][d]);
        k(i, j) = r * exp(-distance / (T(2) * l * l));
      }
    return k;
  }
};

/// One latent function: columns are events (multiplicity > 0) and nodes (weight > 0) in any order.
struct Realisation {
  Vector inducing, time, multiplicity, node_weight;
  Vector v_mean;  ///< mu_v
  Matrix factor;  ///< F, lower: Sigma_v = F'F
};

struct Client {
  Kernel kernel;
  std::vector<Vector> weights;  ///< [S][P]
  std::vector<Realisation> realisations;
  double rate = 1, offset = 0, jitter = 1e-3, least_events = 0.5;
};

inline Matrix covariance(const Matrix& factor) {
  Matrix sigma(factor.rows, factor.rows);
  for (std::size_t i = 0; i < factor.rows; ++i)
    for (std::size_t j = 0; j < factor.rows; ++j)
      for (std::size_t k = 0; k < factor.rows; ++k) sigma(i, j) += factor(k, i) * factor(k, j);
  return sigma;
}

template <class T>
MatrixOf<T> cholesky(const MatrixOf<T>& a) {
  MatrixOf<T> l(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      T sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum = sum - l(i, k) * l(j, k);
      l(i, j) = i == j ? sqrt(sum) : sum / l(j, j);
    }
  return l;
}

/// Lower F with F'F = sigma: the Cholesky factor of sigma with rows and columns in reverse, read backwards.
inline Matrix factor_of(const Matrix& sigma) {
  const std::size_t m = sigma.rows;
  Matrix reversed(m, m), factor(m, m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) reversed(i, j) = sigma(m - 1 - i, m - 1 - j);
  const auto lower = cholesky(reversed);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j <= i; ++j) factor(i, j) = lower(m - 1 - j, m - 1 - i);
  return factor;
}

template <class T>
MatrixOf<T> forward_substitution(const MatrixOf<T>& l, MatrixOf<T> b) {
  for (std::size_t i = 0; i < l.rows; ++i)
    for (std::size_t c = 0; c < b.columns; ++c) {
      for (std::size_t k = 0; k < i; ++k) b(i, c) = b(i, c) - l(i, k) * b(k, c);
      b(i, c) = b(i, c) / l(i, i);
    }
  return b;
}

/// x = a^-1 b by Gauss-Jordan with row pivots.
inline Matrix solve(Matrix a, Matrix b) {
  for (std::size_t j = 0; j < a.rows; ++j) {
    std::size_t best = j;
    for (std::size_t i = j + 1; i < a.rows; ++i)
      if (std::fabs(a(i, j)) > std::fabs(a(best, j))) best = i;
    for (std::size_t c = 0; c < a.columns; ++c) std::swap(a(j, c), a(best, c));
    for (std::size_t c = 0; c < b.columns; ++c) std::swap(b(j, c), b(best, c));
    for (std::size_t i = 0; i < a.rows; ++i) {
      if (i == j) continue;
      const double ratio = a(i, j) / a(j, j);
      for (std::size_t c = 0; c < a.columns; ++c) a(i, c) -= ratio * a(j, c);
      for (std::size_t c = 0; c < b.columns; ++c) b(i, c) -= ratio * b(j, c);
    }
  }
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t c = 0; c < b.columns; ++c) b(i, c) /= a(i, i);
  return b;
}

/// What the model says at a realisation's columns for one sample of the weights (1.2).
template <class T>
struct ForwardOf {
  MatrixOf<T> kzz, l, k, v;       ///< [M x M], [M x M], [M x n], [M x n]
  std::vector<T> prior_mean;      ///< of f: nu + a'h
  std::vector<T> mean, variance;  ///< of f
};
using Forward = ForwardOf<double>;

template <class T>
ForwardOf<T> forward(const Client& c, const Realisation& r, const std::vector<T>& w) {
  ForwardOf<T> out;
  const T variance = exp(w[c.kernel.parameters() - 2]);
  out.kzz = c.kernel(w, r.inducing, r.inducing);
  for (std::size_t j = 0; j < r.inducing.size(); ++j) out.kzz(j, j) = out.kzz(j, j) + T(c.jitter) * variance;
  out.l = cholesky(out.kzz);
  out.k = c.kernel(w, r.inducing, r.time);
  out.v = forward_substitution(out.l, out.k);
  const std::size_t m = r.inducing.size();
  for (std::size_t n = 0; n < r.time.size(); ++n) {
    out.prior_mean.push_back(T(c.offset) + c.kernel.trend(w, r.time[n]));
    T mu = out.prior_mean.back(), s = variance;
    for (std::size_t i = 0; i < m; ++i) {
      mu = mu + out.v(i, n) * T(r.v_mean[i]);
      s = s - out.v(i, n) * out.v(i, n);
    }
    for (std::size_t i = 0; i < m; ++i) {  // V' Sigma V = |F V|^2
      T fv = 0;
      for (std::size_t j = 0; j <= i; ++j) fv = fv + T(r.factor(i, j)) * out.v(j, n);
      s = s + fv * fv;
    }
    out.mean.push_back(mu);
    out.variance.push_back(s);
  }
  return out;
}

/// Per column (1.3); lambda is m g, and means nothing at events.
struct Augmented {
  Vector mean, c, xi, g, lambda, alpha, beta;
};

inline Augmented augment(const Client& client, const Realisation& r, const std::vector<Forward>& samples) {
  Augmented a;
  for (std::size_t n = 0; n < r.time.size(); ++n) {
    double mean = 0, square = 0;
    for (const auto& f : samples) {
      mean += f.mean[n] / static_cast<double>(samples.size());
      square += (f.mean[n] * f.mean[n] + f.variance[n]) / static_cast<double>(samples.size());
    }
    const double c = std::sqrt(square);
    const double xi = c < 1e-4 ? 0.25 - c * c / 48 : std::tanh(c / 2) / (2 * c);
    const double g = std::exp(-mean / 2) / (2 * std::cosh(c / 2));
    const double lambda = client.rate * g;
    a.mean.push_back(mean);
    a.c.push_back(c);
    a.xi.push_back(xi);
    a.g.push_back(g);
    a.lambda.push_back(lambda);
    a.alpha.push_back(r.multiplicity[n] > 0 ? r.multiplicity[n] * xi : r.node_weight[n] * lambda * xi);
    a.beta.push_back(r.multiplicity[n] > 0 ? 0.5 * r.multiplicity[n] : -0.5 * r.node_weight[n] * lambda);
  }
  return a;
}

/// J of one realisation and sample (1.6).
template <class T>
T surrogate(const Client& c, const Realisation& r, const Augmented& a, const std::vector<T>& w) {
  const auto f = forward(c, r, w);
  T sum = 0;
  for (std::size_t n = 0; n < r.time.size(); ++n)
    sum = sum + T(a.beta[n]) * f.mean[n] - T(0.5 * a.alpha[n]) * (f.mean[n] * f.mean[n] + f.variance[n]);
  return sum;
}

/// Derivative of J along a direction of the weights.
inline double surrogate_along(const Client& c, const Realisation& r, const Augmented& a, const Vector& w,
                              const Vector& direction) {
  std::vector<Dual> dual;
  for (std::size_t j = 0; j < w.size(); ++j) dual.emplace_back(w[j], direction[j]);
  return surrogate(c, r, a, dual).derivative;
}

/// Everything of one client, all updates from the same alpha and beta.
struct Step {
  std::vector<std::vector<Forward>> forwards;  ///< [realisation][sample]
  std::vector<Augmented> augmented;            ///< [realisation]
  std::vector<Vector> surrogate;               ///< [realisation][sample]
  std::vector<Matrix> v_cov_next;              ///< [realisation]
  std::vector<Vector> v_mean_next;
  double rate_next = 0, offset_next = 0, offset_next_with_prior = 0, elbo = 0;
  static constexpr double kOffsetPrecision = 0.7, kOffsetCenter = -1.3;  ///< of the prior in offset_next_with_prior
};

inline Step step(const Client& client) {
  Step out;
  const double samples = static_cast<double>(client.weights.size());
  double events = 0, exposure = 0, thinned = 0, residual = 0, alpha = 0;
  for (const auto& r : client.realisations) {
    const std::size_t m = r.inducing.size();
    std::vector<Forward> forwards;
    for (const auto& w : client.weights) forwards.push_back(forward(client, r, w));
    const Augmented a = augment(client, r, forwards);

    // q(v)
    Matrix precision(m, m), right(m, m + 1);
    for (std::size_t i = 0; i < m; ++i) precision(i, i) = right(i, i) = 1;
    for (const auto& f : forwards)
      for (std::size_t n = 0; n < r.time.size(); ++n)
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < m; ++j) precision(i, j) += f.v(i, n) * a.alpha[n] * f.v(j, n) / samples;
          right(i, m) += f.v(i, n) * (a.beta[n] - a.alpha[n] * f.prior_mean[n]) / samples;
        }
    const Matrix solution = solve(precision, right);
    Matrix cov(m, m);
    Vector mean(m);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) cov(i, j) = solution(i, j);
      mean[i] = solution(i, m);
    }

    // sums of m, nu and the ELBO
    Vector js;
    for (const auto& w : client.weights) js.push_back(surrogate(client, r, a, w));
    for (std::size_t n = 0; n < r.time.size(); ++n) {
      events += r.multiplicity[n];
      exposure += r.node_weight[n];
      thinned += r.node_weight[n] * (1 - a.g[n]);
      alpha += a.alpha[n];
      residual += a.beta[n] - a.alpha[n] * (a.mean[n] - client.offset);
      const double log_2cosh = a.c[n] / 2 + std::log1p(std::exp(-a.c[n]));
      out.elbo += r.multiplicity[n] * (a.mean[n] / 2 - log_2cosh) + r.node_weight[n] * a.lambda[n];
    }
    for (std::size_t i = 0; i < m; ++i) {
      double trace = 0;
      for (std::size_t j = 0; j <= i; ++j) trace += r.factor(i, j) * r.factor(i, j);
      out.elbo -= 0.5 * (trace + r.v_mean[i] * r.v_mean[i] - 2 * std::log(r.factor(i, i)) - 1);
    }
    out.forwards.push_back(std::move(forwards));
    out.augmented.push_back(a);
    out.surrogate.push_back(js);
    out.v_cov_next.push_back(cov);
    out.v_mean_next.push_back(mean);
  }
  out.elbo += events * std::log(client.rate) - client.rate * exposure;
  out.rate_next =
      exposure > 0 ? std::fmax(thinned > 0 ? events / thinned : 0, client.least_events / exposure) : client.rate;
  out.offset_next = alpha > 0 ? residual / alpha : client.offset;
  out.offset_next_with_prior =
      (residual + Step::kOffsetPrecision * Step::kOffsetCenter) / (alpha + Step::kOffsetPrecision);
  return out;
}

}  // namespace fedpp::reference
