// FedAvg's local epochs, which its relatives share.
#pragma once

#include "federation/strategies/strategy.hpp"

namespace fedpp::federation {

/// Algorithm 1, ClientUpdate, of McMahan, Moore, Ramage, Hampson, Aguera y Arcas, "Communication-efficient learning of
/// deep networks from decentralized data" (AISTATS 2017): w <- what was received; E epochs on the loss. The divergence
/// is to `pull` instead of what was received.
std::vector<model::LocalReport> epochs_from_received(const std::vector<model::Client*>& participants,
                                                     const LocalWork& work, const model::Priors& pull);

}  // namespace fedpp::federation
