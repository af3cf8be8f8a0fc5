#include "gpu/drawn_intensity.hpp"

#include "gpu/team.hpp"

namespace fedpp::gpu {

namespace {

KOKKOS_INLINE_FUNCTION double scalar_product(int n, const double* a, const double* b) {
  double sum[4] = {};  // additions that do not wait for each other
  int r = 0;
  for (; r + 4 <= n; r += 4)
    for (int l = 0; l < 4; ++l) sum[l] += a[r + l] * b[r + l];
  for (; r < n; ++r) sum[0] += a[r] * b[r];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

void drawn_intensity(const Exec& exec, const Batch& b, const Fields& f, const Draws& draws,
                     const Array<double>& intensity) {
  Kokkos::parallel_for(
      "fedpp::prediction::draws"_label, team_policy(exec, b.tasks), FEDPP_KERNEL(const Member& member) {
        const int task = b.first.task + member.league_rank();
        const int tile = b.task_tile(task), sample = b.task_sample(task);
        if (f.tile_scale(tile) == 0) return;
        const int i = b.tile_realisation(tile), client = b.client(i), samples = b.samples(client);
        const int problem = b.problem(i) + sample, m = b.inducing(i), first = b.tile_first(tile);
        const double log_rate = math::log(f.rate(client)), offset = f.offset(client);
        const Matrix v = v_of<double>(b, f, tile, sample);
        const Index moments = b.problem_column(problem) + first;
        const double* offset_direction = draws.offset_direction.data() + b.vector(i);
        const double* rate_direction = draws.rate_direction.data() + b.vector(i);
        team_for(member, b.tile_columns(tile), [&](Index c) {
          const double* column = v.column(static_cast<int>(c));
          const double slope = 1 / (1 + math::exp(offset + f.projection(moments + c)));
          const double to_offset = slope * (1 - scalar_product(m, column, offset_direction));
          const double to_rate = 1 - slope * scalar_product(m, column, rate_direction);
          const double mean = offset + f.trend(moments + c), sd = math::sqrt(f.unexplained(moments + c));
          const Index at = b.column(i) + first + c;
          const int begin = draws.first_row(at);
          const int ahead = (sample - draws.sample(begin)) % samples;  // to the first row of this task's sample
          for (int k = ahead < 0 ? ahead + samples : ahead; k < draws.count; k += samples) {
            const int row = begin + k;
            const double x =
                mean + scalar_product(m, column, draws.v.data() + draws.vector(row)) + sd * draws.unexplained(row);
            const double level = to_offset * draws.offset_shift(row) + to_rate * draws.rate_shift(row);
            const double log_sigma = math::fmin(x, 0.0) - math::log1p(math::exp(-math::fabs(x)));
            intensity(at * draws.count + k) = math::exp(log_rate + log_sigma + level);
          }
        });
      });
}

}  // namespace fedpp::gpu
