// E-steps on averages over the samples of the weights.
#include "gpu/averages.hpp"

#include <cassert>
#include <vector>

#include "gpu/arrays.hpp"
#include "gpu/dense.hpp"
#include "gpu/kernels.hpp"
#include "gpu/launch_scratch.hpp"

namespace fedpp::gpu {

namespace {

/// Where column q of the lower triangle of an [n x n] matrix begins, column by column.
KOKKOS_INLINE_FUNCTION Index packed_column(Index n, Index q) { return q * (2 * n - q + 1) / 2; }

constexpr int kSamples = 4;  ///< whose products are added up at a time
KOKKOS_INLINE_FUNCTION int padded(int samples) { return (samples + kSamples - 1) / kSamples * kSamples; }

// Per team: x of all samples [M+2 x S], and zeros for samples that are missing.
KOKKOS_INLINE_FUNCTION Index record_scratch(const Batch& b) {
  return static_cast<Index>(b.most_inducing + 2) * padded(b.most_samples);
}

// Per team: Sigma_v [M x M].
KOKKOS_INLINE_FUNCTION Index quadratic_scratch(const Batch& b) {
  return static_cast<Index>(b.most_inducing) * b.most_inducing;
}

template <class D>
void form_quadratics(const Exec& exec, const Averages& a, const Fields& f) {
  const Batch& b = a.batch;
  const Array<double>& forms = a.quadratic;
  const Array<Index>& forms_begin = a.quadratic_begin;
  Kokkos::parallel_for(
      "fedpp::averages::quadratic"_label, team_policy(exec, b.realisations, quadratic_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int i = member.league_rank(), m = b.inducing(i);
        const double* mu = f.v_mean.data() + b.vector(i);
        const Matrix factor(f.v_factor.data() + b.square(i), m, m);
        double* quadratic = forms.data() + forms_begin(i);
        Scratch scratch(member, quadratic_scratch(b));
        const Matrix sigma = scratch.take(m, m);
        D::transposed_triangle_times(member, factor, factor, sigma);
        team_for(member, m + 2, [=](Index r) { quadratic[r] = r == 0 ? 1 : 0; });
        double* trend = quadratic + m + 2;  // column of a'h
        team_for(member, m + 1, [=](Index r) { trend[r] = r == 0 ? 1 : 2 * mu[r - 1]; });
        team_for_lower(member, m, [=](int q) {
          double* to = quadratic + packed_column(m + 2, q + 2) - q;
          const double *from = sigma.column(q), mu_q = mu[q];
          return [=](int r) { to[r] = (r == q ? 1 : 2) * (from[r] + mu[r] * mu_q); };
        });
      });
}

void read_moments(const Exec& exec, const Averages& a, const Fields& f) {
  const Batch& b = a.batch;
  const Array<double>&records = a.record, &forms = a.quadratic;
  const Array<Index>&begin = a.record_begin, &forms_begin = a.quadratic_begin;
  Kokkos::parallel_for(
      "fedpp::averages::moments"_label, team_policy(exec, b.tiles), FEDPP_KERNEL(const Member& member) {
        const int tile = member.league_rank(), i = b.tile_realisation(tile);
        const int m = b.inducing(i), n = b.tile_columns(tile), first = b.tile_first(tile);
        const int length = static_cast<int>(record_length(m));
        const Matrix record(records.data() + begin(i) + first * record_length(m), length, n);
        const double *quadratic = forms.data() + forms_begin(i), *mu = f.v_mean.data() + b.vector(i);
        double* mean = f.projection.data() + b.problem_column(b.problem(i)) + first;
        double* variance = f.variance.data() + b.problem_column(b.problem(i)) + first;
        team_column_sums(
            member, length, n, [=](int c, const double* sum) { variance[c] = sum[0]; },
            [=](int r, int c) { return record(r, c) * quadratic[r]; });
        team_column_sums(
            member, m, n,
            [=](int c, const double* sum) {
              mean[c] = record(1, c) + sum[0];
              variance[c] = math::fmax(variance[c] - mean[c] * mean[c], 0.0);  // >= 0 up to rounding
            },
            [=](int r, int c) { return record(2 + r, c) * mu[r]; });
      });
}

// Per team: sum of alpha times the records, and of (beta - alpha nu) E_w[x] [M+2].
KOKKOS_INLINE_FUNCTION Index accumulate_scratch(const Batch& b) {
  return record_length(b.most_inducing) + b.most_inducing + 2;
}

/// Per tile: its share of the system of q(v).
void accumulate(const Exec& exec, const Averages& a, const Fields& f) {
  const Batch& b = a.batch;
  const Array<double>& records = a.record;
  const Array<Index>& begin = a.record_begin;
  Kokkos::parallel_for(
      "fedpp::averages::accumulate"_label, team_policy(exec, b.tiles, accumulate_scratch(b)),
      FEDPP_KERNEL(const Member& member) {
        const int tile = b.tiles - 1 - member.league_rank();  // the last one's records are still in a cache
        const int i = b.tile_realisation(tile);
        const int m = b.inducing(i), n = b.tile_columns(tile), first = b.tile_first(tile);
        const int length = static_cast<int>(record_length(m));
        const Matrix record(records.data() + begin(i) + first * record_length(m), length, n);
        const double *alpha = f.alpha.data() + b.column(i) + first, *beta = f.beta.data() + b.column(i) + first;
        const double offset = f.offset(b.client(i));
        Scratch scratch(member, accumulate_scratch(b));
        double *sum = scratch.take(length), *response = scratch.take(m + 2);
        team_multiply(member, length, n, record, sum, [=](int c) { return alpha[c]; });
        team_multiply(member, m + 2, n, record, response, [=](int c) { return beta[c] - alpha[c] * offset; });
        member.team_barrier();
        const Matrix square(f.tile_square.data() + b.tile_square(tile), m, m);
        double* vector = f.tile_vector.data() + b.tile_vector(tile);
        const double* trend = sum + m + 2;  // column of a'h
        team_for_columns(member, m, m, [=](int q) {
          double* to = square.column(q);
          const double* from = sum + packed_column(m + 2, q + 2) - q;
          return [=](int r) { to[r] = r >= q ? from[r] : 0; };
        });
        team_for(member, m, [=](Index r) { vector[r] = response[r + 2] - trend[r + 1]; });
      });
}

}  // namespace

bool averages_pay(int samples, int steps, Index averages, Index v) {
  constexpr int kLeast = 4;  // of both
  return samples >= kLeast && steps >= kLeast &&
         (kHostBackend ? static_cast<double>(averages * sizeof(double)) <= kMostAverageBytes : averages <= v);
}

Averages average(const Exec& exec, const Batch& batch, const Fields& fields) {
  assert(batch.precision == Precision::kDouble && batch.first.realisation == 0 && batch.first.tile == 0);
  Averages a{batch, {}, {}, {}, {}};
  std::vector<int> inducing, columns;
  to_host(batch.inducing, inducing);
  to_host(batch.columns, columns);
  std::vector<Index> record_begin, quadratic_begin;
  Index record = 0, quadratic = 0;
  for (int i = 0; i < batch.realisations; ++i) {
    record_begin.push_back(record);
    quadratic_begin.push_back(quadratic);
    record += columns[i] * record_length(inducing[i]);
    quadratic += record_length(inducing[i]);
  }
  const std::vector<int> one(batch.clients, 1);
  ArraySet<int> ints;
  ints.upload("averaged_samples", a.batch.samples, one);
  ints.make("averaged_samples");
  ArraySet<Index> offsets;
  offsets.upload("record_begin", a.record_begin, record_begin);
  offsets.upload("quadratic_begin", a.quadratic_begin, quadratic_begin);
  offsets.make("average_offsets");
  ArraySet<double> doubles;
  doubles.uninitialised("records", a.record, record);
  doubles.uninitialised("quadratics", a.quadratic, quadratic);
  doubles.make("averages");
  form_averages(exec, batch, fields, a);
  return a;
}

void form_averages(const Exec& exec, const Batch& b, const Fields& f, const Averages& a) {
  const Array<double>& records = a.record;
  const Array<Index>& begin = a.record_begin;
  Kokkos::parallel_for(
      "fedpp::averages::form"_label, team_policy(exec, b.tiles, record_scratch(b)), FEDPP_KERNEL(const Member& member) {
        const int tile = member.league_rank(), i = b.tile_realisation(tile);
        const int samples = b.samples(b.client(i)), problem = b.problem(i), m = b.inducing(i), n = m + 2;
        const Index columns = b.columns(i);  // samples of a realisation lie behind each other
        const double* of_samples = f.v.data() + b.matrix(problem);
        const double* trends = f.trend.data() + b.problem_column(problem);
        const double* unexplained = f.unexplained.data() + b.problem_column(problem);
        const double share = 1.0 / samples;
        Scratch scratch(member, record_scratch(b));
        const Matrix x = scratch.take(n, padded(samples)), missing = x.columns_from(samples, x.columns - samples);
        team_for(member, missing.size(), [=](Index j) { missing[j] = 0; });
        for (int c = 0; c < b.tile_columns(tile); ++c) {
          const int column = b.tile_first(tile) + c;
          double* record = records.data() + begin(i) + column * record_length(m);
          team_for_columns(member, m, samples, [=](int s) {
            const double* v = of_samples + (s * columns + column) * m;
            double* to = x.column(s) + 2;
            return [=](int r) { to[r] = v[r]; };
          });
          team_for(member, samples, [=](Index s) {
            double* to = x.column(static_cast<int>(s));
            to[0] = 1;
            to[1] = trends[s * columns + column];
          });
          member.team_barrier();
          for (int first = 0; first < samples; first += kSamples) {
            const double *x0 = x.column(first), *x1 = x0 + n, *x2 = x1 + n, *x3 = x2 + n;
            team_for_lower(member, n, [=](int q) {
              const double y0 = share * x0[q], y1 = share * x1[q], y2 = share * x2[q], y3 = share * x3[q];
              double* to = record + packed_column(n, q) - q;
              return [=](int r) {
                to[r] = (first > 0 ? to[r] : 0) + ((x0[r] * y0 + x1[r] * y1) + (x2[r] * y2 + x3[r] * y3));
              };
            });
          }
          member.team_barrier();
          if (member.team_rank() == 0) {
            double sum = 0;
            for (int s = 0; s < samples; ++s) sum += unexplained[s * columns + column];
            record[0] = share * sum;
          }
        }
      });
}

void add_average_scratch(const Batch& batch, ScratchWanted& wanted) {
  wanted.launch(batch.tiles, record_scratch(batch));
  wanted.launch(batch.realisations, quadratic_scratch(batch));
  wanted.launch(batch.tiles, accumulate_scratch(batch));
}

Index average_doubles(const RealisationExtent& r) { return (r.columns + 1) * record_length(r.inducing) + 3; }

void moments(const Exec& exec, const Averages& averages, const Fields& fields) {
  with_dense([&]<class D>() { form_quadratics<D>(exec, averages, fields); });
  read_moments(exec, averages, fields);
}

void update_variational(const Exec& exec, const Averages& averages, const Fields& fields) {
  accumulate(exec, averages, fields);
  solve_variational(exec, averages.batch, fields);
}

/// x x' of every sample; reads V, writes the records.
Cost average_cost(const ClientExtent& c, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns, length = static_cast<double>(record_length(r.inducing));
  return {2 * c.samples * length * n, 8 * n * (c.samples * m + length)};
}

/// The records twice, once by alpha and once by the quadratic form; Sigma_v, and what q(v) takes.
Cost averaged_step_cost(const ClientExtent&, const RealisationExtent& r) {
  const double m = r.inducing, n = r.columns, length = static_cast<double>(record_length(r.inducing));
  return {4 * length * n + m * m * m + 2 * m * m * m / 3 + 2 * m * m, 8 * (2 * length * n + m * m + 2 * n)};
}

}  // namespace fedpp::gpu
