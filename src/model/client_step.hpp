// One E-step and one gradient of clients at given states (theory 1.2 to 1.6), through the kernels of training, with
// every intermediate: what can be compared with a computation of somebody else's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace fedpp::model {

/// A client of one realisation, its kernel that of time alone.
struct ClientStepCase {
  double window = 0, jitter = 0, nu = 0, m = 0;
  std::vector<double> events, z, quad_t, quad_w;  ///< [N], [M], [Q], [Q]
  std::size_t samples = 0, parameters = 0;        ///< S, 2D + 2
  std::vector<double> w;                          ///< [S][2D + 2]
  std::vector<double> q_mean;                     ///< [M]
  std::vector<double> q_factor;                   ///< latent_factor() of Sigma_v
};

/// A K(z,z) that has no Cholesky factor under a sample of the weights: the pivot that is not positive, and where.
struct FailedPivot {
  std::size_t sample = 0;
  int index = 0;
  double pivot = 0;
};

struct ClientStepAnswer {
  std::optional<FailedPivot> failure;  ///< of the first sample that has one; the numbers below mean nothing then
  std::size_t samples = 0, inducing = 0, points = 0, events = 0, parameters = 0;
  std::vector<double> kzz, f_mean, f_var, c, xi, alpha, beta, lambda, q_mean_next, q_cov_next, surrogate, grad_w;
  double m_next = 0, nu_next = 0, elbo = 0;
};

/// F as a client's state keeps the covariance of q(v): lower, column-major [m x m], Sigma = F'F. Nothing where Sigma is
/// not positive definite. \param covariance [m x m]
std::optional<std::vector<double>> latent_factor(const std::vector<double>& covariance, std::size_t m);

/// The answers to all cases, whatever their sizes, from one batch. Every update starts from the given state, and no
/// jitter is added beyond the case's own: a K(z,z) that has no factor then is its answer's failure.
std::vector<ClientStepAnswer> client_steps(const std::vector<const ClientStepCase*>& cases);

}  // namespace fedpp::model
