#include "gpu/expectation.hpp"

namespace fedpp::gpu {

void expected_intensity(const Exec& exec, const Array<double>& mean, const Array<double>& variance, double rate,
                        const Array<double>& log_intensity, const Array<double>& intensity) {
  Kokkos::parallel_for(
      "fedpp::prediction::expectation", Kokkos::RangePolicy<Exec>(exec, 0, mean.extent(0)),
      KOKKOS_LAMBDA(const Index n) {
        const double sd = math::sqrt(variance(n));
        // sigma(mean + sd z) is analytic for |Im z| < pi/sd: the rule's error is exp(-2 pi^2 / (sd step)), here below
        // 1e-12; the number of steps is bounded (sd 600), so that not even an infinite variance stops the program.
        const int half = static_cast<int>(12 * math::fmin(math::fmax(8.0, sd / 0.6), 1e3)) + 1;
        double log_sigma = 0, sigma = 0, total = 0;
        for (int i = -half; i <= half; ++i) {
          const double z = 12.0 * i / half;
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
