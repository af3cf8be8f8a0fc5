// How much each member of a community counts in the barycentre that another one gets (theory 2.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structural_entropy/entropy.hpp"

namespace fedpp::structural_entropy {

/// [K][K], row u: alpha_uv = softmax over v in u's community of { 1 for v = u, max(sim(u,v), 0) otherwise }; 0 outside
/// it. `similarity`: [K][K]. A row sums to 1.
std::vector<double> community_weights(std::span<const double> similarity, const Partition& partition);

}  // namespace fedpp::structural_entropy
