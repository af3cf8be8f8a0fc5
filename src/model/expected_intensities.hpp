// The expected intensity where the moments of f are given, through the kernel of predictions (theory 1.8).
#pragma once

#include <vector>

namespace fedpp::model {

struct ExpectedIntensities {
  std::vector<double> log_intensity, intensity;  ///< [points] E[log lambda], E[lambda]
};

/// lambda = m sigma(f) at points where f is N(mean, variance). \param mean, variance [points]  \param rate m > 0
ExpectedIntensities expected_intensities(const std::vector<double>& mean, const std::vector<double>& variance,
                                         double rate);

}  // namespace fedpp::model
