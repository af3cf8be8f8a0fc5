#include "gpu/expectation.hpp"

namespace fedpp::gpu {

void expected_intensity(const Exec& exec, const Array<double>& mean, const Array<double>& variance, double rate,
                        const Array<double>& log_intensity, const Array<double>& intensity) {
  constexpr int nodes = 193;  // step 1/8: error far below 3e-9 up to sd 4.5, and at sd 20 below 1e-8
  Kokkos::parallel_for(
      "fedpp::prediction::expectation", Kokkos::RangePolicy<Exec>(exec, 0, mean.extent(0)), KOKKOS_LAMBDA(const Index n) {
        const double sd = math::sqrt(variance(n));
        double log_sigma = 0, sigma = 0, total = 0;
        for (int i = 0; i < nodes; ++i) {
          const double z = -12 + 24.0 * i / (nodes - 1);
          const double weight = math::exp(-0.5 * z * z);
          const double x = mean(n) + sd * z;
          const double t = math::exp(-math::fabs(x));
          log_sigma += weight * (math::fmin(x, 0.0) - math::log1p(t));
          sigma += weight * (x >= 0 ? 1 / (1 + t) : t / (1 + t));
          total += weight;
        }
        log_intensity(n) = math::log(rate) + log_sigma / total;
        intensity(n) = rate * sigma / total;
      });
}

}  // namespace fedpp::gpu
