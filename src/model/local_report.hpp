// How a client's local update ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fedpp::model {

/// An ELBO or a score (nats) as large as this is no result but what weights far from any model's give: the client has
/// failed. Below it sums over clients hold every client (mpi/exact_sum.hpp: 2^63 over their number).
inline constexpr double kMostNats = 1e12;

struct LocalReport {
  std::int64_t client = 0;
  double elbo = 0;  ///< after the last epoch, divergence to the prior taken off
  double divergence = 0;
  double alignment = 0;                ///< its term at the last step; not part of the ELBO
  double jitter = 0;                   ///< largest relative jitter that a Cholesky factorisation needed
  std::optional<std::string> failure;  ///< what went wrong; the client's state is then as it was found
};

}  // namespace fedpp::model
