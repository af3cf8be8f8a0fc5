// The strategies, one a file.
#pragma once

#include <memory>

#include "federation/strategies/strategy.hpp"

namespace fedpp::federation {

std::unique_ptr<const Strategy> federated_strategy();
std::unique_ptr<const Strategy> local_strategy();
std::unique_ptr<const Strategy> fedavg_strategy();
std::unique_ptr<const Strategy> fedprox_strategy(double proximal);
std::unique_ptr<const Strategy> per_fedavg_strategy();
std::unique_ptr<const Strategy> ditto_strategy(double proximal);
std::unique_ptr<const Strategy> fedala_strategy(double rate);
std::unique_ptr<const Strategy> apple_strategy(double penalty, double rate, std::int64_t rounds);

}  // namespace fedpp::federation
