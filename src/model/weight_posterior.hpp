// A diagonal Gaussian over the weights of the kernel: q_phi of a client, theta, and what is sent between them.
#pragma once

#include <vector>

namespace fedpp::model {

struct WeightPosterior {
  std::vector<double> mean, sd;  ///< [P], sd > 0

  bool operator==(const WeightPosterior&) const = default;
};

}  // namespace fedpp::model
