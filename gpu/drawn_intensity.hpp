// The intensity of joint draws from a posterior (docs/theory.md 1.8): a draw is one sample of the weights, one v a realisation
// and one (nu, log m), the same wherever it is read.
#pragma once

#include "gpu/fields.hpp"

namespace fedpp::gpu {

/// Which draws the columns of a batch read: `count` each, those of consecutive rows of a table.
struct Draws {
  int count = 1;
  Array<int> first_row;  ///< [column]
  // The table: rows behind each other have samples behind each other, in turn.
  Array<int> sample;                       ///< [row] of the client's S
  Array<Index> vector;                     ///< [row] where its v begins
  Array<double> v;                         ///< [M] a row: v ~ q(v)
  Array<double> unexplained;               ///< [row] N(0, 1), of what v leaves open about f
  Array<double> offset_shift, rate_shift;  ///< [row] nu and log m less their means
  /// [vector] of a batch with the same realisations: v = v_free - offset_direction x offset_shift - rate_direction x
  /// rate_shift; the rows' v are v_free.
  Array<double> offset_direction, rate_direction;
};

/// intensity[column][draw] = lambda, log lambda = log m + log sigma(f) + level, at every column of a tile in the batch
/// (tile_scale != 0), after features() of double precision with q(v)'s mean as v_mean:
///   f     = nu + a'h + V'v_free + sqrt(kappa - V'V) unexplained
///   level = (1 - sigma)(1 - V'offset_direction) offset_shift + (1 - (1 - sigma) V'rate_direction) rate_shift,
/// sigma at the mean of f: to first order what the draw's nu and m, and the v that gives way to them, change.
void drawn_intensity(const Exec& exec, const Batch& batch, const Fields& fields, const Draws& draws,
                     const Array<double>& intensity);

}  // namespace fedpp::gpu
