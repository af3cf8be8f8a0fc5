// A Gaussian process of one variable with a Matern 5/2 kernel, fitted to a few values by marginal likelihood.
#pragma once

#include <span>
#include <vector>

namespace fedpp::bayesian_optimisation {

/// kappa(d) / s^2 = (1 + a + a^2/3) exp(-a), a = sqrt(5) d / l.
double matern52(double distance, double lengthscale);

/// y = f(x) + noise, f ~ GP(mean, s^2 matern52), noise variance s^2 eta. (l, eta) are the pair of a fixed grid with the
/// greatest marginal likelihood, given which the constant mean (generalised least squares) and s^2 have closed forms.
class GaussianProcess {
 public:
  /// x, y: [n], n >= 2, finite. `width`: of the interval that x lie in, the unit of the grid's length scales.
  GaussianProcess(std::span<const double> x, std::span<const double> y, double width);

  struct Moments {
    double mean, sd;  ///< of f, noise left out
  };
  Moments at(double x) const;

  double lengthscale() const { return lengthscale_; }
  double noise_ratio() const { return noise_ratio_; }  ///< eta
  double log_likelihood() const { return log_likelihood_; }

 private:
  std::vector<double> x_;
  double lengthscale_ = 1, noise_ratio_ = 0, log_likelihood_ = 0;
  double mean_ = 0, variance_ = 0;       // constant mean, s^2
  std::vector<double> factor_, solved_;  // L [n][n] of R + eta I = L L', (R + eta I)^-1 (y - mean)
};

}  // namespace fedpp::bayesian_optimisation
