// The case "structural-entropy" of fedpp probe: communities of a graph given by its similarities.
#pragma once

#include "federation/probe_input.hpp"
#include "structural_entropy/entropy.hpp"

namespace fedpp::federation {

struct CommunitiesAnswer {
  structural_entropy::Partition partition;  ///< [K]
  double entropy = 0;
  std::vector<double> weight;  ///< [K][K] alpha
};

/// Throws MalformedCase.
CommunitiesAnswer communities_answer(const ProbeInput& in);

void write_communities(const CommunitiesAnswer& answer, io::Group& out);

}  // namespace fedpp::federation
