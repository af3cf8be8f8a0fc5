// "local": no exchange; what a client has received is the distribution before the first round, for ever.
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class LocalOnly final : public Strategy {
 public:
  std::vector<model::LocalReport> train(const std::vector<model::Client*>& participants, const LocalWork& work,
                                        Uploads& uploads) const override {
    auto reports = model::local_update(participants, work.received, work.options, work.seed, work.round);
    uploads = own_posteriors(participants, reports);
    return reports;
  }
  bool exchanges() const override { return false; }
};

}  // namespace

std::unique_ptr<const Strategy> local_strategy() { return std::make_unique<LocalOnly>(); }

}  // namespace fedpp::federation
