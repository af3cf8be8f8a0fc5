// E-steps while the weights stay as they are (scores): closed-form updates read V_n and a'h_n at a column only by
// averages over the samples of the weights (1.4, 1.8). With x_n = (1, a'h_n, V_n),
//   E_w[mu_n]         = m'E_w[x_n],  m = (0, 1, mu_v)
//   E_w[mu_n^2 + s_n] = m'E_w[x_n x_n']m + tr(Sigma_v E_w[V_n V_n']) + E_w[kappa_nn - V_n'V_n]
//   E_w[V alpha V']   = sum_n alpha_n E_w[V_n V_n'], and the right-hand side of q(v) alike,
// so that a step on averages passes over (M + 2)(M + 3)/2 numbers a column instead of S M, and does up to S times fewer
// operations: besides those, M^3 a realisation for Sigma_v.
#pragma once

#include "gpu/cost.hpp"
#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// A batch's averages over the samples of its clients' weights.
struct Averages {
  /// The batch, but with one sample a client: for augment(), which then finds the averages where the first sample's
  /// moments are, and for m, nu and q(v). Its problems and tasks are still those of all samples.
  Batch batch;
  Array<Index> record_begin;     ///< [realisation] where its columns' records begin
  Array<Index> quadratic_begin;  ///< [realisation] and its quadratic form
  /// Of a column [record_length(M)]: E_w[x_n], its first entry E_w[kappa_nn - V_n'V_n] in place of 1, then the lower
  /// triangle of E_w[(a'h_n, V_n)(a'h_n, V_n)'], column by column.                            (average)
  Array<double> record;
  /// A record's scalar product with it is E_w[mu_n^2 + s_n].                                  (moments)
  Array<double> quadratic;
};

/// Numbers of a column's record: the lower triangle of E_w[x x'].
KOKKOS_INLINE_FUNCTION Index record_length(Index inducing) { return (inducing + 2) * (inducing + 3) / 2; }

/// Whether `steps` E-steps of a client cost less on averages of so many doubles than on V of `samples` samples with so
/// many. On a host a step on averages takes as long as one on two or three samples, and forming them as long as a step
/// (bench/history.md), while they stay in a cache: kMostAverageBytes is a core's share of it where ranks fill the
/// machine, whose memory would be slower than the products. A device must have less to read (not measured on one).
bool averages_pay(int samples, int steps, Index averages, Index v);
inline constexpr double kMostAverageBytes = 4e6;

/// From V, a'h and what is unexplained, as features() left them, in double precision; of a whole batch, not a chunk.
Averages average(const Exec& exec, const Batch& batch, const Fields& fields);
/// The same where the arrays are there already.
void form_averages(const Exec& exec, const Batch& batch, const Fields& fields, const Averages& averages);

/// Doubles that averages take for a realisation.
Index average_doubles(const RealisationExtent& realisation);

/// As moments(), but E_w[mu_n] and, as variance, E_w[mu_n^2 + s_n] - E_w[mu_n]^2 in the place of the first sample: what
/// augment() makes of one sample is then what it made of all.
void moments(const Exec& exec, const Averages& averages, const Fields& fields);

/// q(v) (1.4).
void update_variational(const Exec& exec, const Averages& averages, const Fields& fields);

/// Of form_averages(), and of an E-step on averages.
Cost average_cost(const ClientExtent& client, const RealisationExtent& realisation);
Cost averaged_step_cost(const ClientExtent& client, const RealisationExtent& realisation);

}  // namespace fedpp::gpu
