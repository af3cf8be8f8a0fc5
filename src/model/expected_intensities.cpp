#include "model/expected_intensities.hpp"

#include "gpu/expectation.hpp"
#include "gpu/kokkos.hpp"

namespace fedpp::model {

ExpectedIntensities expected_intensities(const std::vector<double>& mean, const std::vector<double>& variance,
                                         double rate) {
  const gpu::Exec exec;
  const gpu::Array<double> log_intensity("log_intensity", mean.size()), intensity("intensity", mean.size());
  gpu::expected_intensity(exec, gpu::to_device<double>("mean", mean), gpu::to_device<double>("variance", variance),
                          gpu::to_device<double>("rate", std::vector<double>(mean.size(), rate)), log_intensity,
                          intensity);
  exec.fence();
  ExpectedIntensities expected;
  gpu::to_host(log_intensity, expected.log_intensity);
  gpu::to_host(intensity, expected.intensity);
  return expected;
}

}  // namespace fedpp::model
