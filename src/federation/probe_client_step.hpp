// Probe cases 'client-step' (spec 1.2 to 1.6): every intermediate of one E-step and one gradient at a given state.
#pragma once

#include <string>
#include <vector>

#include "federation/probe_input.hpp"
#include "io/hdf5.hpp"

namespace fedpp::federation {

struct ClientStepCase {
  double window = 0, jitter = 0, nu = 0, m = 0;
  std::vector<double> events, z, quad_t, quad_w;  ///< [N], [M], [Q], [Q]
  Matrix w;                                       ///< [S][2D + 2]
  std::vector<double> q_mean;                     ///< [M]
  std::vector<double> q_factor;                   ///< F, column-major [M x M] lower, Sigma_v = F'F
};

struct ClientStepAnswer {
  std::string failure;  ///< not empty: nothing else is set
  std::size_t samples = 0, inducing = 0, points = 0, events = 0, parameters = 0;
  std::vector<double> kzz, f_mean, f_var, c, xi, alpha, beta, lambda, q_mean_next, q_cov_next, surrogate, grad_w;
  double m_next = 0, nu_next = 0, elbo = 0;
};

/// Reads and checks a case. Throws MalformedCase.
ClientStepCase read_client_step(const ProbeInput& in);

/// All cases as one batch, sizes may differ.
std::vector<ClientStepAnswer> evaluate_client_steps(const std::vector<const ClientStepCase*>& cases);

void write_client_step(const ClientStepAnswer& answer, io::Group& out);

}  // namespace fedpp::federation
