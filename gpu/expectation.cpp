#include "gpu/expectation.hpp"

#include "gpu/arrays.hpp"
#include "gpu/elementary.hpp"
#include "gpu/launch_scratch.hpp"
#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

struct Expectation {
  double log_intensity, intensity;
};

/// Of one f ~ N(mu, variance).
KOKKOS_INLINE_FUNCTION Expectation expectation(double mu, double variance, double rate) {
  const double sd = math::sqrt(variance);
  // The rule's error: exp(-2 pi^2 / step^2) by the Gaussian weight, and by the singularities of sigma and log
  // sigma at |Im z| = pi/sd, up to which the contour can be moved, exp(pi^2 / (2 sd^2) - 2 pi^2 / (sd step)):
  // here together below 1e-12 of the integrand's scale, as is what lies beyond the ends. (Of E[sigma] itself that may
  // be much where it is tiny: its mass lies up to z = sd.)
  // The number of steps is bounded (sd 600), so that not even an infinite variance stops the program.
  constexpr double two_pi_squared = 19.739208802178716;
  const double s = math::fmin(math::fmax(0.375, sd), 600.0);
  const double step = math::fmin(0.75, two_pi_squared / (30 * s + two_pi_squared / (4 * s)));
  const int half = static_cast<int>(math::fmin(7.3 + s, 12.0) / step) + 1;
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
  return {math::log(rate) + log_sigma[0] / total[0], rate * sigma[0] / total[0]};
}

// Per team: both expectations of every column for every sample [2 x T x S].
KOKKOS_INLINE_FUNCTION Index expectation_scratch(const Batch& b) {
  return 2 * static_cast<Index>(b.most_tile) * b.most_samples;
}

}  // namespace

void add_expectation_scratch(const Batch& batch, ScratchWanted& wanted) {
  wanted.launch(batch.tiles, expectation_scratch(batch));
}

void expected_intensity(const Exec& exec, const Array<double>& mean, const Array<double>& variance,
                        const Array<double>& rate, const Array<double>& log_intensity, const Array<double>& intensity) {
  Kokkos::parallel_for(
      "fedpp::prediction::expectation"_label, Kokkos::RangePolicy<Exec>(exec, 0, mean.extent(0)),
      FEDPP_KERNEL(const Index n) {
        const Expectation e = expectation(mean(n), variance(n), rate(n));
        log_intensity(n) = e.log_intensity;
        intensity(n) = e.intensity;
      });
}

ColumnExpectations expected_intensity(const Exec& exec, const Batch& b, const Fields& f) {
  ColumnExpectations expected;
  ArraySet<double> doubles;
  doubles.uninitialised("log_intensity", expected.log_intensity, b.lengths.column);
  doubles.uninitialised("intensity", expected.intensity, b.lengths.column);
  doubles.make("expectations");
  const Array<double>&log_intensity = expected.log_intensity, &intensity = expected.intensity;
  Kokkos::parallel_for(
      "fedpp::prediction::column_expectations"_label, team_policy(exec, b.tiles, expectation_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int tile = member.league_rank(), i = b.tile_realisation(tile), client = b.client(i);
        const int samples = b.samples(client), n = b.tile_columns(tile), first = b.tile_first(tile);
        const Index stride = b.columns(i);  // samples of one realisation lie behind each other
        const double* mean = f.projection.data() + b.problem_column(b.problem(i)) + first;
        const double* variance = f.variance.data() + b.problem_column(b.problem(i)) + first;
        const double rate = f.rate(client), offset = f.offset(client);
        Scratch scratch(member, expectation_scratch(b));
        const Index entries = static_cast<Index>(n) * samples;
        double *each_log = scratch.take(entries), *each = scratch.take(entries);
        team_for_2d(member, n, samples, [=](int c, int s) {
          const Expectation e = expectation(offset + mean[c + s * stride], variance[c + s * stride], rate);
          each_log[c + s * n] = e.log_intensity;
          each[c + s * n] = e.intensity;
        });
        member.team_barrier();
        double* log_mean = log_intensity.data() + b.column(i) + first;
        double* mean_intensity = intensity.data() + b.column(i) + first;
        team_for(member, n, [=](Index c) {
          double log_sum = 0, sum = 0;
          for (int s = 0; s < samples; ++s) {
            log_sum += each_log[c + s * n] / samples;
            sum += each[c + s * n] / samples;
          }
          log_mean[c] = log_sum;
          mean_intensity[c] = sum;
        });
      });
  return expected;
}

}  // namespace fedpp::gpu
