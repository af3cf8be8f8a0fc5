// "federated", this program's own: what a client received is its prior, p_theta in the ELBO (theory 1.5, 2.0), and its
// weights start where federation.client_start says.
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class Federated final : public Strategy {};

}  // namespace

std::unique_ptr<const Strategy> federated_strategy() { return std::make_unique<Federated>(); }

}  // namespace fedpp::federation
