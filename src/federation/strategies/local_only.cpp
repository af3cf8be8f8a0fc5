// "local": no exchange; what a client has received is the distribution before the first round, for ever.
#include "federation/strategies/strategies.hpp"

namespace fedpp::federation {

namespace {

class LocalOnly final : public Strategy {
 public:
  bool exchanges() const override { return false; }
};

}  // namespace

std::unique_ptr<const Strategy> local_strategy() { return std::make_unique<LocalOnly>(); }

}  // namespace fedpp::federation
