#include "gpu/expectation.hpp"

#include "gpu/elementary.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

void expected_intensity(const Exec& exec, const Array<double>& mean, const Array<double>& variance,
                        const Array<double>& rate, const Array<double>& log_intensity, const Array<double>& intensity) {
  Kokkos::parallel_for(
      "fedpp::prediction::expectation"_label, Kokkos::RangePolicy<Exec>(exec, 0, mean.extent(0)),
      FEDPP_KERNEL(const Index n) {
        const double mu = mean(n), sd = math::sqrt(variance(n));
        // The rule's error: exp(-2 pi^2 / step^2) by the Gaussian weight, and by the singularities of sigma and log
        // sigma at |Im z| = pi/sd, up to which the contour can be moved, exp(pi^2 / (2 sd^2) - 2 pi^2 / (sd step)):
        // here together below 1e-12. sigma's mass is never beyond z = sd; what lies outside the ends is below 1e-16.
        // The number of steps is bounded (sd 600), so that not even an infinite variance stops the program.
        constexpr double two_pi_squared = 19.739208802178716;
        const double s = math::fmin(math::fmax(0.375, sd), 600.0);
        const double step = math::fmin(0.75, two_pi_squared / (30 * s + two_pi_squared / (4 * s)));
        const int half = static_cast<int>(math::fmin(8.5 + s, 12.0) / step) + 1;
        // Eight nodes at a time, for vector registers; nodes beyond the last have no weight.
        constexpr int kLanes = 8;
        double log_sigma[kLanes] = {}, sigma[kLanes] = {}, total[kLanes] = {};
        for (int first = -half; first <= half; first += kLanes) {
          FEDPP_INDEPENDENT
          for (int l = 0; l < kLanes; ++l) {
            const double i = first + l, z = step * i;
            const double weight = i > half ? 0 : fast_exp_down(-0.5 * z * z);
            const double x = mu + sd * z;
            const double t = fast_exp_down(x < 0 ? x : -x), share = 1 / (1 + t);
            log_sigma[l] += weight * ((x < 0 ? x : 0) - fast_log1p(t));
            sigma[l] += weight * (x < 0 ? t * share : share);
            total[l] += weight;
          }
        }
        for (int l = 1; l < kLanes; ++l) {
          log_sigma[0] += log_sigma[l];
          sigma[0] += sigma[l];
          total[0] += total[l];
        }
        log_intensity(n) = math::log(rate(n)) + log_sigma[0] / total[0];
        intensity(n) = rate(n) * sigma[0] / total[0];
      });
}

}  // namespace fedpp::gpu
