// "federated", this program's own: what a client received is its prior, p_theta in the ELBO (spec 1.5, 2.0), and its
// weights start where federation.client_start says.
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class Bayesian final : public Strategy {
 public:
  std::vector<model::LocalReport> train(const std::vector<model::Client*>& participants, const LocalWork& work,
                                        Uploads& uploads) const override {
    auto reports = model::local_update(participants, work.received, work.options, work.seed, work.round);
    uploads = own_posteriors(participants, reports);
    return reports;
  }
};

}  // namespace

std::unique_ptr<const Strategy> bayesian_strategy() { return std::make_unique<Bayesian>(); }

}  // namespace fedpp::federation
